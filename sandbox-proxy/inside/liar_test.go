//go:build linux

package inside

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

// liar is a stage that sends what it should not. Descriptor 3 is a listener of
// the network outside, 4 the control socket.
func liar(args []string) error {
	runtime.LockOSThread() // a namespace made here is this thread's
	c := control{fd: 4}
	if _, err := bringUp(ours{}); err != nil {
		return err
	}
	all := listeners(Want{}, true)
	fds, err := openAll(ours{}, all)
	if err != nil {
		return err
	}
	first, send := all[0], func(message []byte, fds ...int) {
		if err := c.send(message, fds...); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	// A socket at an address of its own, so that the address is not what is wrong.
	at := netip.AddrPortFrom(loopback4, 3000)
	socket := func(protocol int, listen bool) int {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, protocol)
		if err == nil {
			err = unix.Bind(fd, &unix.SockaddrInet4{Addr: at.Addr().As4(), Port: int(at.Port())})
		}
		if err == nil && listen {
			err = unix.Listen(fd, 1)
		}
		if err != nil {
			panic(err)
		}
		return fd
	}
	switch args[0] {
	case "nothing":
	case "ready at once":
		send(marshalReady(ready{ipv6: true}))
	case "one missing":
		for i := range all[1:] {
			send(marshalListener(all[i]), fds[i])
		}
		send(marshalReady(ready{ipv6: true}))
	case "one twice":
		send(marshalListener(first), fds[0])
		send(marshalListener(first), fds[0])
	case "another order":
		for i := range all {
			j := len(all) - 1 - i
			send(marshalListener(all[j]), fds[j])
		}
		send(marshalReady(ready{ipv6: true}))
	case "IPv6 that was not there":
		for i := range all {
			send(marshalListener(all[i]), fds[i])
		}
		send(marshalReady(ready{ipv6: false}))
	case "no descriptor":
		send(marshalListener(first))
	case "two descriptors":
		send(marshalListener(first), fds[0], fds[1])
	case "many descriptors":
		send(marshalListener(first), fds...)
	case "a descriptor with the end":
		for i := range all {
			send(marshalListener(all[i]), fds[i])
		}
		send(marshalReady(ready{ipv6: true}), fds[0])
	case "a listener of outside":
		port, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		send(marshalListener(listener{role: rolePort, at: netip.AddrPortFrom(loopback4, uint16(port))}), 3)
	case "another address":
		send(marshalListener(all[0]), fds[1])
	case "another port":
		send(marshalListener(listener{role: roleTransparent, at: all[2].at}), fds[0])
	case "packets for a stream":
		send(marshalListener(listener{role: roleTransparent, at: all[2].at}), fds[2])
	case "a stream for packets":
		send(marshalListener(listener{role: roleDNSPackets, at: first.at}), fds[0])
	case "a stream that does not listen":
		send(marshalListener(listener{role: rolePort, at: at}), socket(0, false))
	case "a listener of another protocol":
		send(marshalListener(listener{role: rolePort, at: at}), socket(unix.IPPROTO_MPTCP, true))
	case "a socket of another family":
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		send(marshalListener(first), pair[0])
	case "a file":
		f, err := os.Open("/dev/null")
		if err != nil {
			return err
		}
		send(marshalListener(first), int(f.Fd()))
	case "a stream for what tells":
		send(marshalListener(unnamedListener), fds[0])
	case "what tells at a port":
		k, err := ours{}.netlink(unix.NETLINK_NETFILTER)
		if err != nil {
			return err
		}
		send(marshalListener(listener{role: roleUnnamed, at: at}), k.fd)
	case "what tells of another network":
		send(marshalListener(first), fds[0])
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return err
		}
		k, err := ours{}.netlink(unix.NETLINK_NETFILTER)
		if err != nil {
			return err
		}
		send(marshalListener(unnamedListener), k.fd)
	case "what tells, first", "what tells, twice":
		k, err := ours{}.netlink(unix.NETLINK_NETFILTER)
		if err != nil {
			return err
		}
		send(marshalListener(unnamedListener), k.fd)
		if args[0] == "what tells, twice" {
			send(marshalListener(unnamedListener), k.fd)
		}
		for i := range all {
			send(marshalListener(all[i]), fds[i])
		}
		send(marshalReady(ready{ipv6: true}))
	case "another network":
		send(marshalListener(all[0]), fds[0])
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return err
		}
		if _, err := bringUp(ours{}); err != nil {
			return err
		}
		again, err := open(ours{}, all[1])
		if err != nil {
			return err
		}
		send(marshalListener(all[1]), again)
	case "a long message":
		send(make([]byte, maxMessage+1), fds[0])
	case "an unknown message":
		send([]byte("hello"), fds[0])
	case "a failure":
		c.fail(&StepError{Step: StepRules, What: "table lnk", Err: fmt.Errorf("so: %w", unix.ENOBUFS), Hint: "do that"})
	default:
		return errors.New("no such lie")
	}
	return nil
}

// What comes up is taken for what it is, and not for what it is said to be; and
// whatever else comes, no descriptor of it stays.
func TestReceiveBelievesNothing(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	outside, at := outsideListener(t)
	here := errSocket // to an ordinary user the network outside is not to look at
	if os.Getuid() == 0 {
		here = errHere
	}
	before := descriptors(t)
	for lie, want := range map[string]error{
		"nothing": ErrGone, "ready at once": errMessage, "one missing": errMessage, "one twice": errMessage,
		"another order": errMessage, "IPv6 that was not there": errMessage, "no descriptor": errMessage,
		"two descriptors": errMessage, "many descriptors": errMessage, "a descriptor with the end": errMessage,
		"a listener of outside": here, "another address": errSocket, "another port": errSocket,
		"packets for a stream": errSocket, "a stream for packets": errSocket, "a stream that does not listen": errSocket,
		"a listener of another protocol": errSocket, "a socket of another family": errSocket, "a file": errSocket, "another network": errSocket,
		"a stream for what tells": errSocket, "what tells at a port": errMessage, "what tells, first": errMessage,
		"what tells, twice": errMessage, "what tells of another network": errSocket, "a long message": errMessage, "an unknown message": errMessage, "a failure": unix.ENOBUFS,
	} {
		cmd := exec.Command(self, "liar", lie, strconv.Itoa(int(at.Port())))
		cmd.ExtraFiles = []*os.File{outside}
		var out strings.Builder
		cmd.Stderr = &out
		h, err := Prepare(cmd, Want{})
		if err != nil {
			t.Fatal(err)
		}
		cmd.SysProcAttr.AmbientCaps = allCapabilities()
		if err := h.Start(); err != nil {
			t.Fatal(err)
		}
		l, err := h.Receive(t.Context())
		if !errors.Is(err, want) || l != nil {
			t.Errorf("%s: %v, %v; want %v", lie, l, err, want)
		}
		var step *StepError
		if lie == "a failure" && (!errors.As(err, &step) || err.Error() != "network inside: rules: table lnk: so: no buffer space available; do that") {
			t.Errorf("%s: %v", lie, err)
		}
		cmd.Wait()
		if strings.Contains(out.String(), "no such lie") {
			t.Errorf("%s: %s", lie, out.String())
		}
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before and %d after", before, after)
	}
}

// allCapabilities also lets an ordinary user's liar make another network.
func allCapabilities() []uintptr {
	if os.Getuid() == 0 {
		return nil
	}
	return []uintptr{unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_NET_BIND_SERVICE, unix.CAP_SYS_ADMIN}
}

// outsideListener is one of the network that the test runs in.
func outsideListener(t *testing.T) (*os.File, netip.AddrPort) {
	t.Helper()
	var plain net.ListenConfig
	plain.SetMultipathTCP(false)
	l, err := plain.Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	at := l.Addr().(*net.TCPAddr).AddrPort()
	return f, netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}
