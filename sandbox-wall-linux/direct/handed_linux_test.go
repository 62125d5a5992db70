package direct

import (
	"os"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// Sockets come out of the sandbox's network, in their order, each of its kind
// and with its message, and nothing of them stays.
func TestHandedOut(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0])
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	fd := int(null.Fd())
	all := []Handed{
		{Domain: unix.AF_NETLINK, Type: unix.SOCK_RAW, Protocol: unix.NETLINK_ROUTE, Message: []byte("links")},
		{Domain: unix.AF_INET, Type: unix.SOCK_DGRAM, Protocol: unix.IPPROTO_UDP, Message: []byte("u")},
		{Domain: unix.AF_INET6, Type: unix.SOCK_STREAM, Protocol: unix.IPPROTO_TCP, Message: []byte("six")},
		{Message: []byte("end")},
	}
	first, err := Begin(Early{OwnNet: true, HostName: "x", Files: [3]int{fd, fd, fd}, Handed: all, HandTo: pair[1]})
	unix.Close(pair[1])
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		first.Close()
		unix.Wait4(first.PID, nil, 0, nil)
		first.Free()
	}()
	var ours, theirs unix.Stat_t
	if err := unix.Stat("/proc/self/ns/net", &ours); err != nil {
		t.Fatal(err)
	}
	for i, h := range all {
		b, oob := make([]byte, 16), make([]byte, unix.CmsgSpace(16))
		n, oobn, _, _, err := unix.Recvmsg(pair[0], b, oob, unix.MSG_CMSG_CLOEXEC)
		if err != nil || !slices.Equal(b[:n], h.Message) {
			t.Fatalf("%d: %q, %v", i, b[:max(n, 0)], err)
		}
		if h.Domain == 0 {
			if oobn != 0 {
				t.Error("a descriptor with the end")
			}
			continue
		}
		messages, err := unix.ParseSocketControlMessage(oob[:oobn])
		if err != nil || len(messages) != 1 {
			t.Fatal(i, messages, err)
		}
		fds, err := unix.ParseUnixRights(&messages[0])
		if err != nil || len(fds) != 1 {
			t.Fatal(i, fds, err)
		}
		for option, want := range map[int]int{unix.SO_DOMAIN: h.Domain, unix.SO_TYPE: h.Type, unix.SO_PROTOCOL: h.Protocol} {
			if is, err := unix.GetsockoptInt(fds[0], unix.SOL_SOCKET, option); is != want || err != nil {
				t.Errorf("%d: option %d is %d (%v), want %d", i, option, is, err, want)
			}
		}
		ns, err := unix.IoctlRetInt(fds[0], unix.SIOCGSKNS)
		if err == nil {
			err = unix.Fstat(ns, &theirs)
			unix.Close(ns)
		}
		if err != nil || theirs.Ino == ours.Ino {
			t.Errorf("%d: of the network %d (%v), and this is %d", i, theirs.Ino, err, ours.Ino)
		}
		unix.Close(fds[0])
	}
	// The other end is nobody's any more.
	if n, _, err := unix.Recvfrom(pair[0], make([]byte, 1), 0); n != 0 || err != nil {
		t.Errorf("%d bytes, %v after the end", n, err)
	}
}
