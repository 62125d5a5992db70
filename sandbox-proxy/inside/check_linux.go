package inside

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/socket"
)

// namespace is a network namespace's own number.
type namespace struct{ dev, ino uint64 }

func namespaceOf(fd int) (namespace, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return namespace{}, err
	}
	return namespace{dev: uint64(st.Dev), ino: st.Ino}, nil
}

func ourNamespace() (namespace, error) {
	fd, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return namespace{}, fmt.Errorf("/proc/thread-self/ns/net: %w", err)
	}
	defer unix.Close(fd)
	return namespaceOf(fd)
}

// checker takes descriptors that came up for what they are said to be, and
// nothing else: a socket of another kind, at another address, or of another
// network would be served as if the program were behind it.
type checker struct {
	here  namespace
	there namespace // that of the first; all are of one
}

var (
	errSocket = errors.New("a descriptor that is not the socket it is said to be")
	errHere   = errors.New("a socket of the network outside")
)

// take checks fd and files it in got. It owns fd from then on.
func (c *checker) take(fd int, as listener, got *Listeners) error {
	if as.role == roleUnnamed {
		return c.takeUnnamed(fd, as, got)
	}
	if err := c.check(fd, as); err != nil {
		unix.Close(fd)
		return err
	}
	if as.packets() {
		f := os.NewFile(uintptr(fd), as.String())
		defer f.Close() // net takes a copy
		p, err := net.FilePacketConn(f)
		if err != nil {
			return err
		}
		got.add(as, nil, p)
		return nil
	}
	l, err := socket.Listen(fd)
	if err != nil {
		return err
	}
	got.add(as, l, nil)
	return nil
}

func (c *checker) check(fd int, as listener) error {
	kind, accepting, protocol := unix.SOCK_STREAM, 1, unix.IPPROTO_TCP
	if as.packets() {
		kind, accepting, protocol = unix.SOCK_DGRAM, 0, unix.IPPROTO_UDP
	}
	if err := checkKind(fd, domainOf(as.at.Addr()), kind, accepting, protocol); err != nil {
		return err
	}
	if err := checkAddress(fd, as); err != nil {
		return err
	}
	return c.checkNetwork(fd)
}

func domainOf(a netip.Addr) int {
	if a.Is4() {
		return unix.AF_INET
	}
	return unix.AF_INET6
}

// checkKind holds a socket to what it is said to be.
func checkKind(fd, domain, kind, accepting, protocol int) error {
	for _, o := range []struct{ option, want int }{
		{unix.SO_DOMAIN, domain}, {unix.SO_TYPE, kind}, {unix.SO_ACCEPTCONN, accepting}, {unix.SO_PROTOCOL, protocol},
	} {
		is, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, o.option)
		if err != nil {
			return fmt.Errorf("%w: %w", errSocket, err)
		}
		if is != o.want {
			return fmt.Errorf("%w: socket option %d is %d and not %d", errSocket, o.option, is, o.want)
		}
	}
	return nil
}

// checkNetwork holds a socket to the one network inside.
func (c *checker) checkNetwork(fd int) error {
	// Linux 4.10; allowed to whoever owns the network's user namespace.
	ns, err := unix.IoctlRetInt(fd, unix.SIOCGSKNS)
	if err != nil {
		return fmt.Errorf("%w: its network cannot be told: %w", errSocket, err)
	}
	defer unix.Close(ns)
	of, err := namespaceOf(ns)
	if err != nil {
		return err
	}
	if of == c.here {
		return errHere
	}
	if c.there == (namespace{}) {
		c.there = of
	}
	if of != c.there {
		return fmt.Errorf("%w: it is of another network than the first", errSocket)
	}
	return nil
}

func checkAddress(fd int, as listener) error {
	at, err := unix.Getsockname(fd)
	if err != nil {
		return fmt.Errorf("%w: %w", errSocket, err)
	}
	same := false
	switch at := at.(type) {
	case *unix.SockaddrInet4:
		same = at.Addr == as.at.Addr().As4() && at.Port == int(as.at.Port())
	case *unix.SockaddrInet6:
		same = at.Addr == as.at.Addr().As16() && at.Port == int(as.at.Port()) && at.ZoneId == 0
	}
	if !same {
		return fmt.Errorf("%w: it is bound elsewhere", errSocket)
	}
	return nil
}
