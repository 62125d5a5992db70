package judge

import (
	"net/netip"
	"slices"
)

// Literals gives the addresses that rules name as such, in order. A program
// that connects to an address by itself reaches these at most; all says that
// it may be any, since no hosts are listed. Names are not among them: inside,
// each has an address of its own.
func (j *Judge) Literals() (addrs []netip.Addr, all bool) {
	if j.noInternet {
		return nil, false
	}
	for h := range j.table.hosts {
		if h.literal() {
			addrs = append(addrs, h.addr)
		}
	}
	slices.SortFunc(addrs, netip.Addr.Compare)
	return addrs, j.table.any || j.table.every
}
