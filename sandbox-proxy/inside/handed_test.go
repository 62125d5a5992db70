//go:build linux

package inside

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// prepareFor prepares the command that plays a role. One that hands out sockets
// is in namespaces that it did not make itself: the kernel sees the same.
func prepareFor(role string) func(*exec.Cmd, Want) (*Handover, error) {
	if role == "stage" || !strings.HasPrefix(role, "hand") && role != "fibber" {
		return Prepare
	}
	return func(cmd *exec.Cmd, want Want) (*Handover, error) {
		h, err := PrepareHanded(cmd, want)
		if err != nil {
			return nil, err
		}
		attr, err := namespaced(cmd)
		if err != nil {
			return nil, err
		}
		if os.Getuid() != 0 {
			attr.AmbientCaps = allCapabilities()
		}
		cmd.SysProcAttr = attr
		return h, nil
	}
}

// handing is what the wall does.
func handing(args []string) error {
	runtime.LockOSThread()
	fd, want, argv, err := ParseFlags(args)
	if err != nil {
		return err
	}
	h, err := TakeHand(fd)
	if err != nil {
		return err
	}
	for _, s := range want.Handed() {
		if err := handOne(h, s); err != nil {
			return err
		}
	}
	if err := h.c.send(Finished()); err != nil {
		return err
	}
	if err := h.Starting(); err != nil {
		return err
	}
	h.Close()
	if err := seal(os.Getuid()); err != nil {
		return err
	}
	return unix.Exec(argv[0], argv, os.Environ())
}

func handOne(h *Hand, s Socket) error {
	fd, err := unix.Socket(s.Domain, s.Type|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, s.Protocol)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return h.c.send(s.Message, fd)
}

func handingWithoutIPv6(args []string) error {
	if err := withoutIPv6(); err != nil {
		return err
	}
	return handing(args)
}

// fibber hands out what it should not. Descriptors 3 and 4 are sockets of
// netlink of the network outside, for links and for rules, 5 is the control
// socket.
func fibber(args []string) error {
	runtime.LockOSThread()
	h := &Hand{control{fd: 5}}
	all := Want{}.Handed()
	var fds []int
	for _, s := range all {
		fd, err := unix.Socket(s.Domain, s.Type|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, s.Protocol)
		if err != nil {
			return err
		}
		fds = append(fds, fd)
	}
	const told, write, read, tcp4, udp4 = 1, 2, 3, 4, 6 // their places in all
	send := func(message []byte, fds ...int) { h.c.send(message, fds...) }
	// what sends them, but those that with names as they are there.
	what := func(with map[int]int) {
		for i, s := range all {
			fd, other := with[i]
			switch {
			case !other:
				send(s.Message, fds[i])
			case fd >= 0:
				send(s.Message, fd)
			}
		}
		send(Finished())
	}
	switch args[0] {
	case "nothing":
	case "otherwise":
		return h.Otherwise()
	case "finished at once":
		send(Finished())
	case "starting at once":
		send([]byte{kindStarting})
	case "no rtnetlink":
		what(map[int]int{0: -1})
	case "no IPv4":
		what(map[int]int{tcp4: -1})
	case "no IPv6, which is there":
		what(map[int]int{tcp4 + 1: -1})
	case "one twice":
		send(all[0].Message, fds[0])
		send(all[0].Message, fds[0])
	case "another order":
		send(all[1].Message, fds[1])
		send(all[0].Message, fds[0])
	case "one too many":
		for i, s := range all {
			send(s.Message, fds[i])
		}
		send(indexed(len(all)), fds[0])
	case "no descriptor":
		send(all[0].Message)
	case "two descriptors":
		send(all[0].Message, fds[0], fds[1])
	case "a descriptor with the end":
		what(nil)
		send(Finished(), fds[0])
	case "links of outside":
		what(map[int]int{0: 3})
	case "rules of outside":
		what(map[int]int{write: 4})
	case "rules of outside to read":
		what(map[int]int{read: 4})
	case "rules of outside to be told of":
		what(map[int]int{told: 4})
	case "links for rules":
		what(map[int]int{write: fds[0]})
	case "packets for a stream":
		what(map[int]int{tcp4: fds[udp4]})
	case "a file":
		f, err := os.Open("/dev/null")
		if err != nil {
			return err
		}
		what(map[int]int{0: int(f.Fd())})
	case "one that listens":
		if err := unix.Listen(fds[tcp4], 1); err != nil {
			return err
		}
		what(nil)
	case "one that is bound":
		if err := unix.Bind(fds[tcp4], &unix.SockaddrInet4{Addr: loopback4.As4(), Port: 3000}); err != nil {
			return err
		}
		what(nil)
	case "a network in use":
		if _, err := bringUp(ours{}); err != nil {
			return err
		}
		what(nil)
	case "another network":
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return err
		}
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_TCP)
		if err != nil {
			return err
		}
		what(map[int]int{tcp4: fd})
	case "an unknown message":
		send([]byte("hello"), fds[0])
	default:
		return errors.New("no such lie")
	}
	return nil
}

// What is handed out is taken for what it is: above all it is of a new network
// that is not the one outside, since what is done with it is done to that.
func TestReceiveHandedBelievesNothing(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var outside []*os.File
	for _, family := range []int{unix.NETLINK_ROUTE, unix.NETLINK_NETFILTER} {
		fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, family)
		if err != nil {
			t.Fatal(err)
		}
		f := os.NewFile(uintptr(fd), "netlink outside")
		defer f.Close()
		outside = append(outside, f)
	}
	here := errSocket // to an ordinary user the network outside is not to look at
	if os.Getuid() == 0 {
		here = errHere
	}
	before := descriptors(t)
	for lie, want := range map[string]error{
		"nothing": ErrGone, "otherwise": ErrOtherwise, "finished at once": errMessage, "starting at once": errMessage,
		"no rtnetlink": errMessage, "no IPv4": errMessage, "no IPv6, which is there": unix.EAFNOSUPPORT,
		"one twice": errMessage, "another order": errMessage, "one too many": errMessage, "no descriptor": errMessage,
		"two descriptors": errMessage, "a descriptor with the end": nil,
		"links of outside": here, "rules of outside": here, "rules of outside to read": here, "rules of outside to be told of": here,
		"links for rules": errSocket, "packets for a stream": errSocket, "a file": errSocket,
		"one that listens": errSocket, "one that is bound": unix.EINVAL,
		"a network in use": errNotFresh, "another network": errSocket, "an unknown message": errMessage,
	} {
		cmd := exec.Command(self, "fibber", lie)
		cmd.ExtraFiles = outside
		var out strings.Builder
		cmd.Stderr = &out
		h, err := prepareFor("fibber")(cmd, Want{})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Start(); err != nil {
			t.Fatal(err)
		}
		l, err := h.Receive(t.Context())
		if want == nil && err == nil {
			l.Close()
			l, want, err = nil, errMessage, h.Starting() // it says something else than that it starts
		}
		if !errors.Is(err, want) || l != nil {
			t.Errorf("%s: %v, %v; want %v", lie, l, err, want)
		}
		h.Close()
		cmd.Wait()
		if strings.Contains(out.String(), "no such lie") {
			t.Errorf("%s: %s", lie, out.String())
		}
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before and %d after", before, after)
	}
}
