package proxy

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"
)

var (
	errNoAddress = errors.New("nothing to dial: this is a bug of the proxy")
	errOwn       = errors.New("an address of this machine")
	errBusy      = errors.New("too many calls are being connected")
)

// dialSystem connects to an address as the system does, to that one only.
func dialSystem(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	d := net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepaliveTime, Interval: keepaliveTime, Count: keepaliveCount},
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			if address != to.String() {
				return errors.New("about to dial an address that was not judged: this is a bug of the proxy")
			}
			return nil
		},
	}
	return d.DialContext(ctx, "tcp", to.String())
}

// dialJudged connects to the first of the addresses that answers: each is
// tried nextAddress after the last, or as soon as that one fails.
func (p *Proxy) dialJudged(ctx context.Context, addrs []netip.AddrPort) (net.Conn, error) {
	c, err := p.dialFirst(ctx, addrs)
	if err != nil {
		return nil, err
	}
	if ownPeer(c) && !addrs[0].Addr().IsLoopback() {
		c.Close()
		return nil, errOwn
	}
	return c, nil
}

// ownPeer says whether a connection has ended up on this machine: such a
// connection has the same address at both ends, whatever routes and interfaces
// say of it.
func ownPeer(c net.Conn) bool {
	a, ok1 := addrPort(c.LocalAddr())
	b, ok2 := addrPort(c.RemoteAddr())
	return ok1 && ok2 && a.Addr() == b.Addr() && !a.Addr().IsLoopback()
}

func (p *Proxy) dialFirst(ctx context.Context, addrs []netip.AddrPort) (net.Conn, error) {
	if len(addrs) == 0 {
		return nil, errNoAddress
	}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	ctx, leave := p.takeDial(ctx)
	defer leave()
	type result struct {
		conn net.Conn
		err  error
	}
	results := make(chan result)
	try := func(to netip.AddrPort) {
		c, err := p.config.Dial(ctx, to)
		select {
		case results <- result{c, err}:
		case <-ctx.Done():
			if c != nil {
				c.Close()
			}
		}
	}
	next := time.NewTimer(0)
	defer next.Stop()
	var last error
	for tried, failed := 0, 0; ; {
		var more <-chan time.Time
		if tried < len(addrs) {
			more = next.C
		}
		select {
		case <-more:
			to := addrs[tried]
			if !p.spawn(func() { try(to) }) {
				return nil, net.ErrClosed
			}
			tried++
			next.Reset(nextAddress)
		case r := <-results:
			if r.err == nil {
				return r.conn, nil
			}
			if why := context.Cause(ctx); why != nil {
				return nil, why
			}
			last = r.err
			if failed++; failed == len(addrs) {
				return nil, last
			}
			next.Reset(0)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
