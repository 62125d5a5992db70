package proxy

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/socket"
)

var (
	errNoAddress = errors.New("nothing to dial: this is a bug of the proxy")
	errOwn       = errors.New("an address of this machine")
	errBusy      = errors.New("too many calls are being connected")
)

// farSide is how the kernel finds out that a far side is gone.
var farSide = net.KeepAliveConfig{Enable: true, Idle: keepaliveTime, Interval: keepaliveTime, Count: keepaliveCount}

// dialSystem connects to an address, to that one only.
func dialSystem(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	return socket.Dial(ctx, to, farSide)
}

// dialJudged connects to the first of the addresses that answers: each is
// tried nextAddress after the last, or as soon as that one fails.
func (p *Proxy) dialJudged(ctx context.Context, addrs []netip.AddrPort) (net.Conn, error) {
	c, err := p.dialFirst(ctx, addrs)
	if err != nil {
		return nil, err
	}
	if !addrs[0].Addr().IsLoopback() && ownPeer(c) {
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

// A dialled is what came of an address, or of several.
type dialled struct {
	conn net.Conn
	err  error
}

func (p *Proxy) dialFirst(ctx context.Context, addrs []netip.AddrPort) (net.Conn, error) {
	if len(addrs) == 0 {
		return nil, errNoAddress
	}
	asked := ctx
	ctx, leave := p.takeDial(ctx)
	defer leave()
	d := p.dialOne(ctx, addrs)
	if d.err == nil {
		// What was let through before a pause says nothing in it, also where what
		// is said first is the proxy's own: a handshake, a word to an upstream.
		if !p.valve.Wait(asked.Done()) || asked.Err() != nil {
			d.conn.Close()
			return nil, context.Cause(asked)
		}
		return d.conn, nil
	}
	if why := context.Cause(ctx); why != nil {
		return nil, why
	}
	return nil, d.err
}

// dialOne tries the first address where it is called: it is the one that
// answers, nearly always. Only where it does not, in time or at all, others
// are tried.
func (p *Proxy) dialOne(ctx context.Context, addrs []netip.AddrPort) dialled {
	if len(addrs) == 1 {
		c, err := p.config.Dial(ctx, addrs[0])
		return dialled{c, err}
	}
	one, lost := context.WithCancel(ctx)
	defer lost()
	others := make(chan dialled)
	failed := make(chan struct{})
	late := time.AfterFunc(nextAddress, func() {
		p.dialBeside(ctx, others, func() dialled {
			d := p.dialOthers(ctx, addrs[1:], failed)
			if d.err == nil {
				lost()
			}
			return d
		})
	})
	c, err := p.config.Dial(one, addrs[0])
	switch {
	case err == nil:
		late.Stop()
		return dialled{c, nil} // what the others still get is closed with ctx
	case late.Stop():
		if ctx.Err() != nil {
			return dialled{nil, err}
		}
		return p.dialOthers(ctx, addrs[1:], nil)
	}
	close(failed)
	select {
	case d := <-others:
		return d
	case <-ctx.Done():
		return dialled{nil, err}
	}
}

// dialBeside dials in a goroutine of its own, and gives what comes of it as
// long as somebody waits for it. It is false when the proxy is closed.
func (p *Proxy) dialBeside(ctx context.Context, to chan<- dialled, dial func() dialled) bool {
	return p.spawn(func() {
		d := dial()
		select {
		case to <- d:
		case <-ctx.Done():
			if d.conn != nil {
				d.conn.Close()
			}
		}
	})
}

// dialOthers tries addresses beside each other. One that failed has the next
// tried at once; so does the one before them.
func (p *Proxy) dialOthers(ctx context.Context, addrs []netip.AddrPort, before <-chan struct{}) dialled {
	results := make(chan dialled)
	next := time.NewTimer(0)
	defer next.Stop()
	for tried, failed := 0, 0; ; {
		var more <-chan time.Time
		if tried < len(addrs) {
			more = next.C
		}
		select {
		case <-more:
			to := addrs[tried]
			if !p.dialBeside(ctx, results, func() dialled {
				c, err := p.config.Dial(ctx, to)
				return dialled{c, err}
			}) {
				return dialled{nil, net.ErrClosed}
			}
			tried++
			next.Reset(nextAddress)
		case <-before:
			before = nil
			next.Reset(0)
		case d := <-results:
			if failed++; d.err == nil || failed == len(addrs) {
				return d
			}
			next.Reset(0)
		case <-ctx.Done():
			return dialled{nil, ctx.Err()}
		}
	}
}
