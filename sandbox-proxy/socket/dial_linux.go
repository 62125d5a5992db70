package socket

import (
	"context"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// errSelf is of an address of this machine that answered with the very socket
// that dialled it (simultaneous open, RFC 9293 section 3.5): its port was the
// socket's own, and nobody listens there.
var errSelf = os.NewSyscallError("connect", unix.ECONNREFUSED)

// selfTries is how often one is dialled.
const selfTries = 3

// Dial connects to an address, to that one only, and has keep applied to the
// connection. It ends with ctx. Errors are those of package net: an
// [net.OpError] of "dial" around what the kernel said, or what ctx ended for.
func Dial(ctx context.Context, to netip.AddrPort, keep net.KeepAliveConfig) (net.Conn, error) {
	if to.Addr().Zone() != "" {
		return dialNet(ctx, to, keep)
	}
	to = netip.AddrPortFrom(to.Addr().Unmap(), to.Port())
	for try := 1; ; try++ {
		c, err := dial(ctx, to, keep)
		if err == nil {
			return c, nil
		}
		if err != errSelf || try == selfTries {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(to), Err: err}
		}
	}
}

func dial(ctx context.Context, to netip.AddrPort, keep net.KeepAliveConfig) (*Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	domain := unix.AF_INET6
	if to.Addr().Is4() {
		domain = unix.AF_INET
	}
	fd, err := unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	keepAlive(fd, keep)
	return connect(ctx, fd, to)
}

// Connect connects a TCP socket, of whatever network it is, to an address. It
// owns fd, also with an error, and ends with ctx.
func Connect(ctx context.Context, fd int, to netip.AddrPort) (net.Conn, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("fcntl", err)
	}
	c, err := connect(ctx, fd, to)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// connect connects a socket that does not block.
func connect(ctx context.Context, fd int, to netip.AddrPort) (*Conn, error) {
	setNow(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	at := sockaddr(to)
	err := unix.Connect(fd, at)
	c, wrapped := wrap(fd, to)
	if wrapped != nil {
		return nil, wrapped
	}
	if err == unix.EINPROGRESS || err == unix.EINTR {
		err = c.connected(ctx, at)
	} else {
		err = os.NewSyscallError("connect", err)
	}
	if err == nil {
		err = c.reached(to)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// connected waits until a connection that was begun is there. To ask for it
// again says how far it is: EALREADY until it is there, then nothing, or what
// went wrong (connect(2), __inet_stream_connect in net/ipv4/af_inet.c).
func (c *Conn) connected(ctx context.Context, at unix.Sockaddr) error {
	var is error
	var stop func() bool
	waited := c.raw.Write(func(fd uintptr) bool {
		is = unix.Connect(int(fd), at)
		if is != unix.EALREADY && is != unix.EINTR {
			return true
		}
		if stop == nil {
			stop = context.AfterFunc(ctx, func() { c.file.SetWriteDeadline(past) })
		}
		return false
	})
	if stop != nil && !stop() {
		return context.Cause(ctx)
	}
	if waited != nil {
		return waited
	}
	if is == unix.EISCONN {
		return nil
	}
	return os.NewSyscallError("connect", is)
}

// reached holds a connection to what was dialled: the kernel has other words for
// some addresses, as this machine for the unspecified one (ip(7)).
func (c *Conn) reached(to netip.AddrPort) error {
	if to.Addr().IsLoopback() {
		if c.local() == to {
			return errSelf
		}
		return nil
	}
	return c.control(func(fd uintptr) error {
		is, no := nameNow(unix.SYS_GETPEERNAME, fd)
		if no != 0 {
			return os.NewSyscallError("getpeername", no)
		}
		if is != to {
			return errOther
		}
		return nil
	})
}

// past ends waits.
var past = time.Unix(1, 0)

// keepAlive has the kernel find out whether the other side is still there
// (tcp(7)). What it refuses stays as it was.
func keepAlive(fd int, keep net.KeepAliveConfig) {
	if !keep.Enable {
		return
	}
	setNow(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
	setNow(fd, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, int(keep.Idle/time.Second))
	setNow(fd, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, int(keep.Interval/time.Second))
	setNow(fd, unix.IPPROTO_TCP, unix.TCP_KEEPCNT, keep.Count)
}

func sockaddr(to netip.AddrPort) unix.Sockaddr {
	if to.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(to.Port()), Addr: to.Addr().As16()}
}

var _ syscall.Conn = (*Conn)(nil)
