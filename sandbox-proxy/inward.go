package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tunnel"
)

// ListenLoopback listens on a port of 127.0.0.1 and, where this machine has
// IPv6, of ::1. A port that something else has on either is an error: who calls
// "localhost" could not tell which of the two it reaches.
func ListenLoopback(port uint16) ([]net.Listener, error) {
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
			return nil, fmt.Errorf("port %d: %w", port, plainError(err))
		}
	}
	return all, nil
}

// plainError is the system's word alone: the address is in what stands before it.
func plainError(err error) error {
	var no syscall.Errno
	if errors.As(err, &no) {
		return no
	}
	return err
}

// ServeInward carries connections of this machine to a port inside, until the
// proxy or the listener is closed. It owns the listener. dial connects to the
// port. What cannot be connected, or comes while the wire is stopped, is reset
// at once.
func (p *Proxy) ServeInward(l net.Listener, port uint16, dial func(context.Context) (net.Conn, error)) error {
	return p.accept(l, func(c net.Conn) { p.serveInward(c, port, dial) })
}

func (p *Proxy) serveInward(from net.Conn, port uint16, dial func(context.Context) (net.Conn, error)) {
	d := judge.Decision{Allowed: true, Host: "localhost", Port: port}
	if r := p.wireRefuses(judge.ByServe, d); r != nil {
		p.tell(r)
		reset(from)
		return
	}
	// Anybody on this machine can call: they take no place of the program's.
	select {
	case p.inward <- struct{}{}:
	default:
		reset(from)
		return
	}
	c := &call{
		proxy: p, by: judge.ByServe, decision: d, meter: tunnel.NewMeter(&p.meter), began: time.Now(),
		end: func() { <-p.inward }, far: from,
	}
	ctx, cancel := context.WithTimeout(p.ctx, dialTime)
	defer cancel()
	near, err := dial(ctx)
	if err != nil {
		reset(from)
		c.over(Failed, wordsFailed)
		return
	}
	t := &tunnel.Tunnel{Near: near, Far: from, Meter: c.meter, Valve: &p.valve, Idle: tunnelIdle, Drain: tunnelDrain}
	if p.add(t) {
		t.Run()
		p.drop(t)
	}
	c.over("", "")
}
