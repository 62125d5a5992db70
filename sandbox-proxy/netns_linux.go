package proxy

import (
	"net"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// elsewhere says whether a listener is of another network namespace, where the
// same address is another place. Before Linux 5.14 it cannot be told, and a
// listener is taken to be of this one.
func elsewhere(l net.Listener) bool {
	c, ok := l.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	var theirs uint64
	raw.Control(func(fd uintptr) { theirs = cookie(int(fd)) })
	ours := ownCookie()
	return theirs != 0 && ours != 0 && theirs != ours
}

// cookie names the network namespace of a socket (socket(7), SO_NETNS_COOKIE);
// zero is unknown.
func cookie(fd int) uint64 {
	v, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_NETNS_COOKIE)
	if err != nil {
		return 0
	}
	return v
}

// ownCookie names the namespace that this process dials from.
var ownCookie = sync.OnceValue(func() uint64 {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	return cookie(fd)
})
