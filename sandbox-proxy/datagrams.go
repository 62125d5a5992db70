package proxy

import (
	"net/netip"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

const (
	// maxDatagrams bounds the destinations of datagrams that are remembered.
	// A program that has sent to more is told of again from the start.
	maxDatagrams = 1024
	// maxDatagramsTold is how many of them are told to the owner: refused
	// connections, which a rule can open, are not to be lost among them.
	maxDatagramsTold = 5
)

// Datagrams are those that the kernel refused: each destination is told of
// once, since a program sends many to one.
type datagrams struct {
	seen map[netip.AddrPort]bool
	told int
}

func (d *datagrams) first(to netip.AddrPort) bool {
	if d.seen[to] {
		return false
	}
	if d.seen == nil || len(d.seen) >= maxDatagrams {
		d.seen = map[netip.AddrPort]bool{}
	}
	d.seen[to] = true
	return true
}

// tellDatagram tells of a datagram that was refused without the proxy: no rule
// carries one. The log has all; the owner is not alarmed by those whose sender
// does without an answer.
func (p *Proxy) tellDatagram(d *datagrams, to netip.AddrPort) {
	if !d.first(to) {
		return
	}
	detail, quiet := datagramWords(to)
	r := &Refusal{
		Sandbox: p.config.Sandbox, By: judge.ByUDP, Host: hostOf(p.named(to.Addr().String())), Port: to.Port(),
		Reason: Protocol, Detail: detail,
	}
	if !quiet && d.told < maxDatagramsTold {
		d.told++
		p.show(r)
	}
	p.record(r)
}

// hostOf is a host in normal form, as a decision has it.
func hostOf(host string) string {
	if a, err := netip.ParseAddr(host); err == nil && a.Is6() {
		return "[" + host + "]"
	}
	return host
}

// datagramWords says what becomes of a datagram's sender without it, by the
// service that its port is registered for (IANA, Service Name and Transport
// Protocol Port Number Registry), and whether its sender needs no help.
func datagramWords(to netip.AddrPort) (words string, quiet bool) {
	const none = "UDP, which is not carried"
	if a := to.Addr().Unmap(); a.IsMulticast() || a == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		return none + ": a sandbox is alone on its network", true // mDNS, LLMNR, SSDP
	}
	switch to.Port() {
	case 443:
		return none + ": HTTP/3 goes on over TCP", true
	case 123:
		return none + ": the clock is this machine's", false
	case 853, 5353:
		return none + ": names are answered by the sandbox's own name server, at port 53 of any address", false
	}
	return none + ", at no port: use TCP, where what is called has it", false
}
