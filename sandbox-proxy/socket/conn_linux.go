package socket

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Conn is a TCP connection. Its methods may be called from many goroutines,
// as those of every net.Conn.
type Conn struct {
	_ [0]func()

	file *os.File // of a socket that does not block
	raw  syscall.RawConn
	peer netip.AddrPort
}

// wrap owns fd, also with an error. The socket must not block.
func wrap(fd int, peer netip.AddrPort) (*Conn, error) {
	f, raw, err := waited(fd)
	if err != nil {
		return nil, err
	}
	return &Conn{file: f, raw: raw, peer: peer}, nil
}

// waited makes a file of a socket that does not block, for which Go's poller
// waits. Where the kernel does not watch it (epoll_ctl(2): ENOSPC, ENOMEM), the
// file would be there all the same, and no call of it would wait.
func waited(fd int) (*os.File, syscall.RawConn, error) {
	f := os.NewFile(uintptr(fd), "tcp")
	raw, err := f.SyscallConn()
	if err == nil {
		err = f.SetDeadline(time.Time{})
	}
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("a socket that cannot be waited for: %w", err)
	}
	return f, raw, nil
}

// Read reads what there is (net.Conn).
func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.file.Read(b)
	return n, c.told("read", err)
}

// Write writes all of it, or says how much (net.Conn).
func (c *Conn) Write(b []byte) (int, error) {
	n, err := c.file.Write(b)
	return n, c.told("write", err)
}

// Close closes it; waiting calls end with [net.ErrClosed].
func (c *Conn) Close() error { return c.told("close", c.file.Close()) }

// CloseWrite ends what is said on it (shutdown(2)).
func (c *Conn) CloseWrite() error {
	return c.told("close", c.control(func(fd uintptr) error {
		if _, _, no := syscall.RawSyscall(unix.SYS_SHUTDOWN, fd, unix.SHUT_WR, 0); no != 0 {
			return os.NewSyscallError("shutdown", no)
		}
		return nil
	}))
}

// SetLinger says what Close does with what was not sent yet, as
// [net.TCPConn.SetLinger].
func (c *Conn) SetLinger(sec int) error {
	l := unix.Linger{Onoff: 1, Linger: int32(max(sec, 0))}
	if sec < 0 {
		l.Onoff = 0
	}
	return c.told("set", c.control(func(fd uintptr) error {
		return os.NewSyscallError("setsockopt", unix.SetsockoptLinger(int(fd), unix.SOL_SOCKET, unix.SO_LINGER, &l))
	}))
}

// LocalAddr asks the kernel.
func (c *Conn) LocalAddr() net.Addr { return net.TCPAddrFromAddrPort(c.local()) }

// RemoteAddr is who was dialled, or who called.
func (c *Conn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.peer) }

// SetDeadline bounds waits (net.Conn).
func (c *Conn) SetDeadline(t time.Time) error { return c.told("set", c.file.SetDeadline(t)) }

// SetReadDeadline bounds waits (net.Conn).
func (c *Conn) SetReadDeadline(t time.Time) error { return c.told("set", c.file.SetReadDeadline(t)) }

// SetWriteDeadline bounds waits (net.Conn).
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.told("set", c.file.SetWriteDeadline(t)) }

// SyscallConn is the socket itself (syscall.Conn).
func (c *Conn) SyscallConn() (syscall.RawConn, error) { return c.raw, nil }

// control does something with the socket, which nobody closes meanwhile.
func (c *Conn) control(f func(fd uintptr) error) (err error) {
	if closed := c.raw.Control(func(fd uintptr) { err = f(fd) }); closed != nil {
		return net.ErrClosed
	}
	return err
}

// local is this side's address, or none where the connection is closed.
func (c *Conn) local() (at netip.AddrPort) {
	c.raw.Control(func(fd uintptr) {
		if is, no := nameNow(unix.SYS_GETSOCKNAME, fd); no == 0 {
			at = is
		}
	})
	return at
}

// told says an error of a file as package net does one of a connection.
func (c *Conn) told(what string, err error) error {
	switch {
	case err == nil, err == io.EOF:
		return err
	case errors.Is(err, os.ErrClosed):
		err = net.ErrClosed
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = os.ErrDeadlineExceeded
	default:
		var of *os.PathError
		if errors.As(err, &of) {
			err = os.NewSyscallError(of.Op, of.Err)
		}
	}
	return &net.OpError{Op: what, Net: "tcp", Addr: net.TCPAddrFromAddrPort(c.peer), Err: err}
}

// nameNow asks for an address of a socket: getsockname(2) or getpeername(2).
func nameNow(which, fd uintptr) (netip.AddrPort, syscall.Errno) {
	var at unix.RawSockaddrAny
	size := uint32(unsafe.Sizeof(at))
	if _, _, no := syscall.RawSyscall(which, fd, uintptr(unsafe.Pointer(&at)), uintptr(unsafe.Pointer(&size))); no != 0 {
		return netip.AddrPort{}, no
	}
	return rawAddrPort(&at), 0
}

// setNow sets an option that is a number, without a word to Go's scheduler: it
// never waits.
func setNow(fd, level, option, value int) syscall.Errno {
	v := int32(value)
	_, _, no := syscall.RawSyscall6(unix.SYS_SETSOCKOPT, uintptr(fd), uintptr(level), uintptr(option), uintptr(unsafe.Pointer(&v)), unsafe.Sizeof(v), 0)
	return no
}
