package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// Loopback listens on a port of 127.0.0.1 and, where there is IPv6, of ::1. A
// port that something else has on either is an error: who calls "localhost"
// could not tell which of the two it reaches.
func Loopback(port uint16) ([]net.Listener, error) {
	var all []net.Listener
	for _, at := range []struct{ network, host string }{{"tcp4", "127.0.0.1"}, {"tcp6", "::1"}} {
		l, err := net.Listen(at.network, net.JoinHostPort(at.host, strconv.Itoa(int(port))))
		switch {
		case err == nil:
			all = append(all, l)
		case at.network == "tcp6" && (errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT)):
		default:
			for _, l := range all {
				l.Close()
			}
			return nil, fmt.Errorf("port %d: %w", port, plain(err))
		}
	}
	return all, nil
}

// DialLoopback connects to a port of 127.0.0.1 or, where nothing listens there,
// of ::1.
func DialLoopback(ctx context.Context, port uint16) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
	if errors.Is(err, syscall.ECONNREFUSED) {
		if six, err6 := d.DialContext(ctx, "tcp6", net.JoinHostPort("::1", strconv.Itoa(int(port)))); err6 == nil {
			return six, nil
		}
	}
	return c, err
}

// plain is the system's word alone: the address is in what stands before it.
func plain(err error) error {
	var no syscall.Errno
	if errors.As(err, &no) {
		return no
	}
	return err
}
