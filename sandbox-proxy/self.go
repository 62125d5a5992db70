package proxy

import (
	"net"
	"net/netip"
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

// addrPort is the address of a TCP socket; ok is false for any other.
func addrPort(a net.Addr) (netip.AddrPort, bool) {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, false
	}
	at := tcp.AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap().WithZone(""), at.Port()), true
}
