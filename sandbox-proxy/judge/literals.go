package judge

import (
	"cmp"
	"net/netip"
	"slices"
)

// A Reach is what a program that connects by itself, without naming a host to
// the proxy, may reach.
type Reach struct {
	// All is that it may be any address at any port, since no hosts are listed.
	All bool
	// Names are the ports, in order, at which any rule opens a name. Inside, each
	// name has an address of its own.
	Names []uint16
	// Literals are the addresses that rules name as such, each at its ports, in
	// order.
	Literals []netip.AddrPort
}

// Reach gives what the rules leave open at most.
func (j *Judge) Reach() Reach {
	var r Reach
	if j.noInternet {
		return r
	}
	names := map[uint16]bool{}
	for h, at := range j.table.hosts {
		for _, port := range at.all() {
			if h.literal() {
				r.Literals = append(r.Literals, netip.AddrPortFrom(h.addr, port))
			} else {
				names[port] = true
			}
		}
	}
	for _, at := range j.table.under {
		for _, port := range at.all() {
			names[port] = true
		}
	}
	for port := range names {
		r.Names = append(r.Names, port)
	}
	slices.Sort(r.Names)
	slices.SortFunc(r.Literals, func(a, b netip.AddrPort) int {
		return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Port(), b.Port()))
	})
	r.Literals = slices.Compact(r.Literals)
	r.All = j.table.any || j.table.every
	return r
}
