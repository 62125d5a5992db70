package socket

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// Quiet says whether a connection is open and nothing has come on it that was
// not read: recv(2) of nothing that stays. One that is no socket may be either,
// and is taken for quiet.
func Quiet(c net.Conn) (quiet bool) {
	socket, ok := c.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	err = raw.Control(func(fd uintptr) { quiet = peek(fd) == unix.EAGAIN })
	return err == nil && quiet
}
