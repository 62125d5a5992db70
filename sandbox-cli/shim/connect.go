package shim

import (
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// dialTime bounds reaching the proxy, which is on this network's loopback.
const dialTime = 10 * time.Second

// connect opens a TCP connection. Package net would do it, and have every call
// pay for loading all that resolves names.
func connect(at netip.AddrPort) (*os.File, error) {
	family, to := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()})
	if ip := at.Addr().Unmap(); ip.Is4() {
		family, to = unix.AF_INET, &unix.SockaddrInet4{Port: int(at.Port()), Addr: ip.As4()}
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM, unix.IPPROTO_TCP)
	if err != nil {
		return nil, err
	}
	unix.CloseOnExec(fd)
	// A descriptor that does not block is read and written by the runtime's
	// poller: no thread waits in it (os.NewFile).
	unix.SetNonblock(fd, true)
	if err := await(fd, unix.Connect(fd, to)); err != nil {
		unix.Close(fd)
		return nil, err
	}
	// What is said is small, and is to go at once.
	unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	return os.NewFile(uintptr(fd), "the sandbox's proxy"), nil
}

// await waits until a connection that was begun is made, and gives why it was
// not (connect(2), EINPROGRESS).
func await(fd int, err error) error {
	if err != unix.EINPROGRESS && err != unix.EINTR {
		return err
	}
	for until := time.Now().Add(dialTime); ; {
		left := time.Until(until)
		if left <= 0 {
			return unix.ETIMEDOUT
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, int(left.Milliseconds())+1)
		switch {
		case err == unix.EINTR || err == nil && n == 0:
			continue
		case err != nil:
			return err
		}
		errno, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
		if err == nil && errno != 0 {
			err = unix.Errno(errno)
		}
		return err
	}
}
