package proxy

import (
	"io"
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
		p.refuseForeign(g)
	}
}

// What tells TLS and SOCKS4 by their first byte, and the latter's no.
const (
	tlsHandshake  = 22 // RFC 8446 section 5.1
	socks4Version = 4
	socks4No      = "\x00\x5b\x00\x00\x00\x00\x00\x00"
)

// refuseForeign ends a connection in a protocol that the proxy has no ear for.
// Clients come to speak it by how the proxy's address is written for them.
func (p *Proxy) refuseForeign(g *gate) {
	detail, says := "", ""
	switch g.buf[0] {
	case tlsHandshake:
		detail, says = "TLS to the proxy itself, whose address begins with http:// also for https; a program that does so all the same (wget2) needs no proxy here: env -u https_proxy", string(accessDenied)
	case socks4Version:
		detail, says = "SOCKS4 to the proxy, which speaks SOCKS5 (socks5h://) and HTTP", socks4No
	default:
		g.Close()
		return
	}
	p.tell(&Refusal{Sandbox: p.config.Sandbox, By: judge.BySOCKS, Reason: judge.Malformed, Detail: detail})
	g.Conn.SetWriteDeadline(time.Now().Add(headTime))
	if _, err := io.WriteString(g.Conn, says); err == nil {
		g.linger()
	}
	g.Close()
}

// serveHTTP answers the requests on a connection, until there is a CONNECT or one
// for the server, which has the connection from then on.
func (p *Proxy) serveHTTP(g *gate) {
	for {
		h, err := g.nextHead()
		g.arrived()
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
		done, more := p.exchange(g, h)
		switch {
		case !done:
			g.admitHead(h)
			p.plain.serve(g)
			return
		case !more:
			g.Close()
			return
		}
		g.SetReadDeadline(time.Now().Add(betweenTime))
	}
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
