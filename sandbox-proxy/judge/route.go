package judge

import (
	"errors"
	"net/netip"
	"slices"
)

// addRoute adds the host of a route. Loopback is one where a route names it in
// a plain spelling: the program cannot choose where a route goes.
func (t *table) addRoute(entry string) error {
	h, port, err := splitRule(entry)
	if err != nil {
		return err
	}
	if port == 0 {
		return errors.New("no port: want " + h.String() + ":<port>")
	}
	if entry != h.withPort(port) {
		return errors.New("not in normal form: write " + h.withPort(port))
	}
	if !plainLocal(h) {
		if err := checkRule(entry, h, port); err != nil {
			return err
		}
	}
	if t.routes == nil {
		t.routes = map[host][]uint16{}
	}
	if !slices.Contains(t.routes[h], port) {
		t.routes[h] = append(t.routes[h], port)
	}
	return nil
}

// route decides a call by a route: to the hosts that routes name and no other,
// whatever hosts and no_internet say. What the address is counts as always.
func (j *Judge) route(h host, port uint16) Decision {
	if !slices.Contains(j.table.routes[h], port) {
		return refused(h.String(), port, Host, "no route goes to this host", Open{})
	}
	d := Decision{Allowed: true, Host: h.String(), Port: port, Expect: AnyProtocol, Literal: h.literal()}
	switch {
	case plainLocal(h):
		d.Addrs = []netip.AddrPort{netip.AddrPortFrom(local4, port), netip.AddrPortFrom(local6, port)}
		if h.literal() {
			d.Addrs = []netip.AddrPort{netip.AddrPortFrom(h.addr, port)}
		}
	case h.literal():
		kind, ok := j.classOf(h.addr)
		if !ok {
			return unsure(h, port)
		}
		if kind.never() || kind.lan() && !j.lan {
			return j.closed(h, port, kind, h.addr)
		}
		d.Addrs = []netip.AddrPort{netip.AddrPortFrom(h.addr, port)}
	}
	return d
}

// plainLocal says whether the host is loopback in one of its plain spellings.
func plainLocal(h host) bool {
	return h.name == "localhost" || h.addr == local4 || h.addr == local6
}
