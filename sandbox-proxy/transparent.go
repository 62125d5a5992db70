package proxy

import (
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// ServeTransparent carries connections that were meant for another address,
// until the proxy or the listener is closed. It owns the listener.
//
// dst gives the address that a connection was meant for; name gives the name
// that an address stands for, where it is one that the sandbox's DNS gave out.
// Such a connection is judged as a call of the name, and any other as a call of
// the address. What is refused is reset at once.
func (p *Proxy) ServeTransparent(l net.Listener, dst func(net.Conn) (netip.AddrPort, error), name func(netip.Addr) (string, bool)) error {
	return p.accept(l, func(c net.Conn) {
		to, err := dst(c)
		if err != nil {
			reset(c)
			return
		}
		host, ok := name(to.Addr().Unmap())
		if !ok {
			host = to.Addr().Unmap().String()
		}
		p.serveMeant(c, judge.Call{By: judge.ByTransparent, Host: host, Port: to.Port()})
	})
}

// serveMeant carries a connection that was meant for a host.
func (p *Proxy) serveMeant(conn net.Conn, asked judge.Call) {
	g := p.newGate(conn, nil)
	if !p.addIdle(g) {
		return
	}
	d := p.config.Judge.Rule(asked)
	if d.Allowed && d.Expect == judge.HTTP {
		// Each request is a call, and counted as one.
		g.into = &inside{by: asked.By, host: d.Host, port: d.Port, literal: d.Literal}
		if r := p.wireRefuses(asked.By, d); r != nil {
			p.tell(r)
			g.Cut()
			return
		}
		g.SetReadDeadline(time.Now().Add(betweenTime))
		p.serveHTTP(g)
		return
	}
	c, r := p.call(asked)
	if r != nil {
		g.Cut()
		return
	}
	if err := c.connect(); err != nil {
		g.Cut()
		c.failed(failureOf(err).detail)
		return
	}
	p.carry(g, c)
}

// TellUnnamed tells of the calls to destinations that nothing is carried to, and
// that were refused without the proxy: next gives where each was to go, whether
// it was a datagram of UDP, and an error when there are no more. They are judged
// for the reason alone.
func (p *Proxy) TellUnnamed(next func() (to netip.AddrPort, udp bool, err error)) {
	var datagrams datagrams
	for {
		to, udp, err := next()
		if err != nil {
			return
		}
		if udp {
			p.tellDatagram(&datagrams, to)
			continue
		}
		d := p.config.Judge.Rule(judge.Call{By: judge.ByTransparent, Host: p.named(to.Addr().String()), Port: to.Port()})
		if !d.Allowed {
			p.tell(p.refusal(judge.ByTransparent, d))
		}
	}
}

// ServePort carries connections to a port of this machine's loopback, until
// the proxy or the listener is closed. It owns the listener. A port that the
// rules do not name is refused at once.
func (p *Proxy) ServePort(l net.Listener, port uint16) error {
	asked := judge.Call{By: judge.ByPort, Host: "127.0.0.1", Port: port}
	if d := p.config.Judge.Rule(asked); !d.Allowed {
		l.Close()
		return errors.New("port " + d.Target() + ": " + d.Detail)
	}
	return p.accept(l, func(c net.Conn) { p.serveMeant(c, asked) })
}
