package proxy

import (
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// socksVersion is the first byte of SOCKS5 (RFC 1928 section 3). No HTTP
// request starts with it.
const socksVersion = 5

// serveProxy answers one connection to the proxy, by its first byte.
func (p *Proxy) serveProxy(c net.Conn) {
	g := p.newGate(c, nil)
	if !p.addIdle(g) {
		return
	}
	g.SetReadDeadline(time.Now().Add(betweenTime))
	g.await()
	err := g.fill()
	g.arrived()
	switch {
	case err != nil:
		g.Close()
	case g.buf[0] == socksVersion:
		p.serveSOCKS(g)
	case g.buf[0] >= 'A' && g.buf[0] <= 'z', g.buf[0] == '\r':
		p.serveHTTP(g)
	default:
		g.Close() // TLS, SOCKS4 or noise: there is no answer that it would understand
	}
}

// serveHTTP answers the first request on a connection, and gives the
// connection to the server unless it is a CONNECT.
func (p *Proxy) serveHTTP(g *gate) {
	h, err := g.nextHead()
	if err != nil {
		g.Close()
		return
	}
	if h.bad == nil && h.method == http.MethodConnect && g.into == nil && !g.own {
		g.r += g.give
		g.give = 0
		p.serveConnect(g, h)
		return
	}
	g.admitHead(h)
	p.plain.serve(g)
}

// An inside is the one host that plain requests on a connection may name: it
// was meant for that host, or is in a tunnel to it.
type inside struct {
	by   judge.By
	host string // in normal form
	port uint16
	// literal says that the program named an address: then a Host is held
	// against the rules instead.
	literal bool
	// warm is the call that the tunnel was opened by, and was counted. The
	// first request takes it, and its connection.
	warm atomic.Pointer[call]
}

// serveInside answers the requests in a tunnel to port 80. What is there must
// be HTTP, and each request for the tunnel's host.
func (p *Proxy) serveInside(g *gate, c *call) {
	into := &inside{by: c.by, host: c.decision.Host, port: c.decision.Port, literal: c.decision.Literal}
	into.warm.Store(c)
	if len(c.early) == 0 {
		c.warm.Store(&c.far)
	} else {
		c.far.Close() // whatever it is, it is not an HTTP server
	}
	n := p.newGate(g.Conn, into)
	n.push(g.unread())
	g.leave()
	g.forget()
	if !p.add(n) {
		return
	}
	n.SetReadDeadline(time.Now().Add(betweenTime))
	p.serveHTTP(n)
}
