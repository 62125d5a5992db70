package proxy

import (
	"net"
	"net/netip"
	"time"
)

// self says whether one of the addresses is a listener of the proxy's own: a
// call to it would come back for ever.
func (p *Proxy) self(addrs []netip.AddrPort) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l, here := range p.listeners {
		at, ok := addrPort(l.Addr())
		if !ok || !here {
			continue
		}
		for _, a := range addrs {
			if a.Port() == at.Port() && (a.Addr() == at.Addr() || at.Addr().IsUnspecified()) {
				return true
			}
		}
	}
	return false
}

// itself says whether a request to the proxy names the proxy, as its program
// finds it. Clients that know of no exceptions ask so for the addresses of
// routes.
func (p *Proxy) itself(at authority) bool {
	if p.config.Local == nil || !proxyItself(at.host) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.listeners {
		if own, ok := addrPort(l.Addr()); ok && own.Port() == at.port && (own.Addr().IsLoopback() || own.Addr().IsUnspecified()) {
			return true
		}
	}
	return false
}

// local gives what an absolute target that names the proxy itself asks of it.
func (p *Proxy) local(target string) (path string, ok bool) {
	at, secure, path, err := parseAbsolute(target)
	if err != nil || secure || !p.itself(at) {
		return "", false
	}
	if path == "" || path[0] != '/' {
		path = "/" + path
	}
	return path, true
}

// serveItself answers a CONNECT to the proxy itself.
func (p *Proxy) serveItself(g *gate) {
	if err := g.say(established); err != nil {
		g.Close()
		return
	}
	p.serveWithin(g)
}

// serveWithin answers the requests in a tunnel to the proxy itself: as those of
// any connection to it, but for tunnels, which would have no end.
func (p *Proxy) serveWithin(g *gate) {
	n := p.newGate(g.Conn, nil)
	n.own = true
	n.push(g.unread())
	g.leave()
	g.forget()
	if !p.addIdle(n) {
		return
	}
	n.SetReadDeadline(time.Now().Add(betweenTime))
	p.serveHTTP(n)
}

// addrPort is the address of a TCP socket; ok is false for any other.
func addrPort(a net.Addr) (netip.AddrPort, bool) {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, false
	}
	at := tcp.AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap().WithZone(""), at.Port()), true
}
