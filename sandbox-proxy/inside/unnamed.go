package inside

import (
	"encoding/binary"
	"net/netip"
)

// The group of nfnetlink_log(7) that a call which no rule carries is told to,
// and how much of its packet: the headers, with some of IPv6's extensions.
// A network has groups of its own, and the program cannot join one.
const (
	unnamedGroup = 1
	unnamedBytes = 128
)

// withoutTold is the rule set for a kernel that tells of no packet.
func (r ruleSet) withoutTold() ruleSet {
	chains := make([]chain, len(r.Chains))
	for i, c := range r.Chains {
		rules := make([]rule, len(c.Rules))
		for j, rule := range c.Rules {
			rule.Told = false
			rules[j] = rule
		}
		c.Rules = rules
		chains[i] = c
	}
	return ruleSet{Table: r.Table, Chains: chains}
}

// Where the destination stands in an IPv4 and an IPv6 header (RFC 791, section
// 3.1; RFC 8200, section 3).
const (
	offset4 = 16
	offset6 = 24
)

// The headers of a packet (RFC 791, section 3.1; RFC 8200, sections 3 and 4).
const (
	head4, head6  = 20, 40
	hopByHop      = 0
	routing       = 43
	destinationOf = 60 // Destination Options
)

// A Meant is where a call was to go that no rule carries, and over what: [TCP]
// or [UDP], of which each datagram is a call.
type Meant struct {
	To   netip.AddrPort // its destination
	Over Protocol
}

// meantFor is where a packet is to go, read from its first bytes. It is false
// for one that is neither TCP's nor UDP's.
func meantFor(packet []byte) (Meant, bool) {
	if len(packet) < head4 {
		return Meant{}, false
	}
	var to netip.Addr
	next, at := packet[9], int(packet[0]&0xf)*4
	switch packet[0] >> 4 {
	case 4:
		to = netip.AddrFrom4([4]byte(packet[offset4:]))
	case 6:
		if len(packet) < head6 {
			return Meant{}, false
		}
		to, next, at = netip.AddrFrom16([16]byte(packet[offset6:])), packet[6], head6
		for (next == hopByHop || next == routing || next == destinationOf) && len(packet) >= at+2 {
			next, at = packet[at], at+8+8*int(packet[at+1])
		}
	default:
		return Meant{}, false
	}
	over := Protocol(next)
	if over != TCP && over != UDP || at < head4 || len(packet) < at+4 {
		return Meant{}, false
	}
	return Meant{netip.AddrPortFrom(to, binary.BigEndian.Uint16(packet[at+2:])), over}, true
}
