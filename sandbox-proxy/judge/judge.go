package judge

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	// lookupTime bounds the wait for a name's addresses.
	lookupTime = 10 * time.Second
	// onwardTime bounds it where an upstream resolves, and this machine may
	// have no name server that answers.
	onwardTime = 2 * time.Second
	// unknownAge is how long a name that has no address here is not asked for
	// again on the way to an upstream.
	unknownAge = time.Minute
	// maxUnknown bounds how many such names are kept.
	maxUnknown = 1024
	// maxAddrs bounds the addresses of a name that are dialled. All are judged.
	maxAddrs = 16
)

// A Judge decides calls by rules that never change.
type Judge struct {
	table      *table
	system     System
	lan        bool
	noInternet bool
	unknown    unknown
}

// NoInternetOpen is what opens a sandbox that has no internet.
var NoInternetOpen = Open{Member: "no_internet = false"}

// New makes a judge. A rule that nothing could open is refused, as is an address
// in another form than its normal one: the error is a [*RuleError] there.
func New(r Rules, s System) (*Judge, error) {
	if s.Lookup == nil || s.Interfaces == nil {
		return nil, errors.New("a judge needs a whole System: this is a bug of the caller")
	}
	t, err := newTable(r)
	if err != nil {
		return nil, err
	}
	return &Judge{table: t, system: s, lan: r.LAN, noInternet: r.NoInternet}, nil
}

// Judge decides a call. A name that a rule admits is resolved, once; all its
// addresses are judged, and one that is closed refuses the call.
func (j *Judge) Judge(ctx context.Context, c Call) Decision {
	return j.Resolve(ctx, j.Rule(c), c.Onward)
}

// Resolve ends what [Judge.Rule] began: a decision of its, whole and of a moment
// ago. Onward is [Call].Onward.
func (j *Judge) Resolve(ctx context.Context, d Decision, onward bool) Decision {
	if !d.Allowed || len(d.Addrs) > 0 {
		return d
	}
	if onward {
		return j.resolveOnward(ctx, d)
	}
	return j.resolve(ctx, d, lookupTime)
}

// Rule decides what can be decided of a call without resolving its name. An
// allowed name has no Addrs yet; an allowed address has them.
func (j *Judge) Rule(c Call) Decision {
	h, err := parseHost(c.Host)
	if err != nil {
		return refused(Shown(c.Host), c.Port, Malformed, "not a host: "+err.Error(), Open{})
	}
	if c.Port == 0 {
		return refused(h.String(), 0, Malformed, "not a port: want 1 to 65535", Open{})
	}
	if c.By == ByRoute {
		return j.route(h, c.Port)
	}
	if h.localName() || h.literal() && classOf(h.addr, nil) == loopback {
		return j.local(h, c.Port)
	}
	if j.noInternet {
		return refused(h.String(), c.Port, NoInternet, "this sandbox has no internet", NoInternetOpen)
	}
	if metadataNames[h.name] {
		return j.closed(h, c.Port, metadata, netip.Addr{})
	}
	expect, named, open := j.table.match(h, c.Port)
	d := Decision{Host: h.String(), Port: c.Port, Expect: expect, Literal: h.literal()}
	private := false
	if h.literal() {
		kind, ok := j.classOf(h.addr)
		private = kind.lan()
		switch {
		case !ok:
			return unsure(h, c.Port)
		case kind.never(), open && kind.lan() && !j.lan && !j.table.literalTCP(h, c.Port):
			return j.closed(h, c.Port, kind, h.addr)
		}
		d.Addrs = []netip.AddrPort{netip.AddrPortFrom(h.addr, c.Port)}
	}
	if !open {
		d = unnamed(h, c.Port, named)
		if private && !j.lan {
			d.Open = openTCP(h, c.Port) // as a host it would need lan too
		}
		if named && j.table.isFTP(h, c.Port) {
			d.Detail, d.Open = ftpWords, Open{}
		}
		return d
	}
	d.Allowed = true
	return d
}

// Name is the DNS's question: could any rule admit this name, at any port?
// Nothing is resolved.
func (j *Judge) Name(name string) Decision {
	h, err := parseHost(name)
	if err != nil {
		return refused(Shown(name), 0, Malformed, "not a name: "+err.Error(), Open{})
	}
	d := Decision{Allowed: true, Host: h.String()}
	_, named, _ := j.table.match(h, 0)
	switch {
	case h.literal():
		return refused(d.Host, 0, Malformed, "an address, not a name", Open{})
	case h.name == "localhost" && len(j.table.ports) > 0:
		return d
	case h.localName():
		return refused(d.Host, 0, Address, loopback.String(), Open{})
	case j.noInternet:
		return refused(d.Host, 0, NoInternet, "this sandbox has no internet", NoInternetOpen)
	case metadataNames[h.name]:
		return refused(d.Host, 0, Address, metadata.String(), Open{})
	case !named:
		return unnamed(h, 443, false)
	}
	return d
}

// Above says whether a rule names something under a name, which is in normal
// form. Such a name is there, with or without addresses of its own: to say that
// it is not would say so of all that is under it (RFC 8020).
func (j *Judge) Above(name string) bool { return !j.noInternet && j.table.above[name] }

// local decides calls of this machine's loopback: by ports, in the plain
// spellings only.
func (j *Judge) local(h host, port uint16) Decision {
	if !plainLocal(h) {
		return refused(h.String(), port, Address, loopback.String()+", of which localhost, 127.0.0.1 and ::1 can be opened; a program calls its own servers without the proxy", Open{})
	}
	if !slices.Contains(j.table.ports, port) {
		n := strconv.Itoa(int(port))
		return refused(h.String(), port, Address, loopback.String(), Open{"ports = [" + n + "]", "--port " + n})
	}
	return Decision{
		Allowed: true, Host: h.String(), Port: port, Literal: h.literal(),
		Addrs: []netip.AddrPort{netip.AddrPortFrom(local4, port), netip.AddrPortFrom(local6, port)},
	}
}

var (
	local4 = netip.MustParseAddr("127.0.0.1")
	local6 = netip.MustParseAddr("::1")
)

// unnamed refuses a host that no rule names, or none at this port.
func unnamed(h host, port uint16, named bool) Decision {
	open := openTCP(h, port)
	if !named && (port == 80 || port == 443) {
		open = Open{"hosts = [" + strconv.Quote(h.String()) + "]", "--internet-host " + h.String()}
	}
	if named {
		return refused(h.String(), port, Port, "no rule opens this host at this port", open)
	}
	return refused(h.String(), port, Host, "no rule names this host", open)
}

func openTCP(h host, port uint16) Open { return OpenTCP(Decision{Host: h.String(), Port: port}) }

// OpenTCP is what would open a call for any protocol.
func OpenTCP(d Decision) Open {
	at := d.Target()
	return Open{"tcp = [" + strconv.Quote(at) + "]", "--tcp " + at}
}

// closed refuses a host for what its address is.
func (j *Judge) closed(h host, port uint16, c class, addr netip.Addr) Decision {
	var open Open
	detail := c.String()
	switch {
	case c.lan() && h.literal():
		open = openTCP(h, port)
	case c.lan():
		open = Open{"lan = true", "--lan"}
		detail = "it has " + detail
	case c == loopback && !h.literal():
		detail = "it has an address of " + detail
	case !h.literal():
		detail = "it has " + detail
	}
	d := refused(h.String(), port, Address, detail, open)
	d.Refused = addr
	return d
}

func unsure(h host, port uint16) Decision {
	return refused(h.String(), port, Unsure, "this machine's own addresses could not be read, so none can be told from them", Open{})
}

// classOf gives the class of an address on this machine as it is now.
func (j *Judge) classOf(a netip.Addr) (class, bool) {
	all, err := j.system.Interfaces()
	if err != nil {
		return reserved, false
	}
	return classOf(a, all), true
}

// resolve adds the addresses of a name that is allowed, or refuses it.
func (j *Judge) resolve(ctx context.Context, d Decision, wait time.Duration) Decision {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	found, err := j.system.Lookup(ctx, d.Host)
	if err != nil || len(found) == 0 {
		return refused(d.Host, d.Port, Unresolved, unresolved(err), Open{})
	}
	h := host{name: d.Host}
	own, err := j.system.Interfaces()
	if err != nil {
		return unsure(h, d.Port)
	}
	for _, a := range Alternate(found) {
		c := classOf(a, own)
		if c.never() || c.lan() && !j.lan {
			return j.closed(h, d.Port, c, a)
		}
		if at := netip.AddrPortFrom(a, d.Port); len(d.Addrs) < maxAddrs && !slices.Contains(d.Addrs, at) {
			d.Addrs = append(d.Addrs, at)
		}
	}
	return d
}

// resolveOnward refuses a name whose addresses, seen from here, are closed.
// The upstream resolves again, and may see others: what it reaches is its own.
func (j *Judge) resolveOnward(ctx context.Context, d Decision) Decision {
	if j.unknown.has(d.Host) {
		return d
	}
	seen := j.resolve(ctx, d, onwardTime)
	switch {
	case seen.Allowed:
		return seen
	case seen.Reason == Unresolved:
		if ctx.Err() == nil {
			j.unknown.add(d.Host)
		}
		return d
	}
	return seen
}

// unknown are names that had no address here a short while ago.
type unknown struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (u *unknown) has(name string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return time.Now().Before(u.until[name])
}

func (u *unknown) add(name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.until == nil {
		u.until = map[string]time.Time{}
	}
	if len(u.until) >= maxUnknown {
		oldest := slices.MinFunc(keys(u.until), func(a, b string) int { return cmp.Compare(u.until[a].UnixNano(), u.until[b].UnixNano()) })
		delete(u.until, oldest)
	}
	u.until[name] = time.Now().Add(unknownAge)
}

func keys(m map[string]time.Time) []string {
	all := make([]string, 0, len(m))
	for k := range m {
		all = append(all, k)
	}
	return all
}
