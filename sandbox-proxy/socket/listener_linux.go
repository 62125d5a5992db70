package socket

import (
	"encoding/binary"
	"net"
	"net/netip"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Listener accepts TCP connections.
type Listener struct {
	_ [0]func()

	file *os.File
	raw  syscall.RawConn
	at   netip.AddrPort
}

// Listen takes a TCP socket that listens. It owns fd, also with an error.
func Listen(fd int) (*Listener, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("fcntl", err)
	}
	at, no := nameNow(unix.SYS_GETSOCKNAME, uintptr(fd))
	if no != 0 {
		unix.Close(fd)
		return nil, os.NewSyscallError("getsockname", no)
	}
	setNow(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) // of what it accepts, too
	f, raw, err := waited(fd)
	if err != nil {
		return nil, err
	}
	return &Listener{file: f, raw: raw, at: at}, nil
}

// Accept waits for a connection. It has no delay (TCP_NODELAY), and no
// keepalive: who calls is on this machine.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		fd, from, is := -1, unix.RawSockaddrAny{}, syscall.Errno(0)
		err := l.raw.Read(func(of uintptr) bool {
			fd, is = acceptNow(of, &from)
			return is != unix.EAGAIN && is != unix.EINTR
		})
		switch {
		case err != nil: // closed
			return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.Addr(), Err: net.ErrClosed}
		case is == unix.ECONNABORTED: // gone before it was taken
			continue
		case is != 0:
			return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.Addr(), Err: os.NewSyscallError("accept4", is)}
		}
		c, err := wrap(fd, rawAddrPort(&from))
		if err != nil { // not &Conn(nil) in an interface
			return nil, err
		}
		return c, nil
	}
}

// Close closes it; a waiting Accept ends with [net.ErrClosed].
func (l *Listener) Close() error { return l.file.Close() }

// Addr is where it listens.
func (l *Listener) Addr() net.Addr { return net.TCPAddrFromAddrPort(l.at) }

// SyscallConn is the socket itself (syscall.Conn).
func (l *Listener) SyscallConn() (syscall.RawConn, error) { return l.raw, nil }

// acceptNow takes a connection that waits, or gives EAGAIN (accept(2)).
func acceptNow(of uintptr, from *unix.RawSockaddrAny) (int, syscall.Errno) {
	size := uint32(unsafe.Sizeof(*from))
	fd, _, no := syscall.RawSyscall6(unix.SYS_ACCEPT4, of, uintptr(unsafe.Pointer(from)), uintptr(unsafe.Pointer(&size)),
		unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0, 0)
	if no != 0 {
		return -1, no
	}
	return int(fd), 0
}

// rawAddrPort reads a struct sockaddr_in or sockaddr_in6 (ip(7), ipv6(7)): the
// port stands in network order.
func rawAddrPort(from *unix.RawSockaddrAny) netip.AddrPort {
	port := func(p *uint16) uint16 { return binary.BigEndian.Uint16((*[2]byte)(unsafe.Pointer(p))[:]) }
	switch from.Addr.Family {
	case unix.AF_INET:
		a := (*unix.RawSockaddrInet4)(unsafe.Pointer(from))
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), port(&a.Port))
	case unix.AF_INET6:
		a := (*unix.RawSockaddrInet6)(unsafe.Pointer(from))
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), port(&a.Port))
	}
	return netip.AddrPort{}
}
