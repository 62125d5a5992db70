package inside

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// stay makes sockets for the proxy, in a goroutine, until it closes its end.
// The sockets are of this network and are connected outside: nothing here can
// be made to wait, and nothing here knows what they are for.
func (c control) stay() error {
	var forever unix.Timeval
	if err := unix.SetsockoptTimeval(c.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &forever); err != nil {
		unix.Close(c.fd)
		return failed(StepControl, "wait without a bound", err)
	}
	go func() {
		defer unix.Close(c.fd)
		for c.answer() == nil {
		}
	}()
	return nil
}

// answer makes one socket. An error ends the making.
func (c control) answer() error {
	var b [3]byte
	n, _, err := unix.Recvfrom(c.fd, b[:], 0)
	switch {
	case err == unix.EINTR:
		return nil
	case err != nil:
		return err
	case n == 0:
		return ErrGone
	case n != 2 || b[0] != kindAsk:
		return errMessage
	}
	domain := unix.AF_INET
	if b[1] == 6 {
		domain = unix.AF_INET6
	}
	s, err := unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.IPPROTO_TCP)
	if err != nil {
		return c.send(marshalNone(err))
	}
	defer unix.Close(s)
	return c.send([]byte{kindSocket, b[1]}, s)
}

// marshalNone says why there is no socket, as an errno.
func marshalNone(err error) []byte {
	var no syscall.Errno
	errors.As(err, &no)
	return []byte{kindNone, byte(no)} // those of socket(2) are below 256
}
