package proxy

import (
	"context"
	"net"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tunnel"
)

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
		proxy: p, ctx: p.dialContext(), by: judge.ByServe, decision: d, meter: tunnel.NewMeter(&p.meter), began: time.Now(),
		end: func() { <-p.inward }, far: from,
	}
	ctx, cancel := context.WithTimeout(p.ctx, dialTime)
	defer cancel()
	near, err := dial(ctx)
	if err != nil {
		reset(from)
		c.over(Failed, wordsNotServed)
		return
	}
	t := &tunnel.Tunnel{Near: near, Far: from, Meter: c.meter, Valve: &p.valve, Idle: tunnelIdle, Drain: tunnelDrain}
	if p.add(t) {
		t.Run()
		p.drop(t)
	}
	c.over("", "")
}
