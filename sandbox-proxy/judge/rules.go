package judge

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// maxRules bounds the entries of one list.
const maxRules = 10000

// Rules are what a sandbox may call, as its confinement has it.
type Rules struct {
	_ [0]func()

	// Hosts are names, *.names and addresses, at 80 and 443 or at the port
	// that stands behind them. Nil is any host of the internet; empty is none.
	Hosts []string
	// TCP are name:port and address:port, by any protocol.
	TCP []string
	// Ports are ports of this machine's loopback.
	Ports []uint16
	// LAN opens what is not the internet's.
	LAN bool
	// NoInternet leaves Ports alone.
	NoInternet bool
	// AnyPort lets every host be called at every port by any protocol, where
	// Hosts is nil: the mode host without localhost.
	AnyPort bool
	// Routes are host:port of the hosts that routes go to. Only calls by a
	// route may reach them so, with NoInternet too; what their addresses are is
	// judged as any host's is. This machine's loopback may be one of them.
	Routes []string
}

// A RuleError is a rule that cannot be one.
type RuleError struct {
	Member string // hosts, tcp, ports, routes
	Index  int    // of the entry in the member
	Entry  string // as it was written, but for a user and password
	Why    string
}

func (e *RuleError) Error() string {
	return e.Member + ": " + strconv.Quote(e.Entry) + ": " + e.Why
}

// A reach is the ports at which a rule opens a host.
type reach struct {
	web   bool     // 80 and 443
	ports []uint16 // and these, by hosts
	tcp   []uint16 // and these, by any protocol
}

// opens says whether the port is open, and what must be spoken there.
func (r reach) opens(port uint16) (Protocol, bool) {
	if slices.Contains(r.tcp, port) {
		return AnyProtocol, true
	}
	if r.web && (port == 80 || port == 443) || slices.Contains(r.ports, port) {
		return spoken(port), true
	}
	return AnyProtocol, false
}

// all gives the ports, in any order; one may be there twice.
func (r reach) all() []uint16 {
	all := slices.Concat(r.ports, r.tcp)
	if r.web {
		all = append(all, 80, 443)
	}
	return all
}

func spoken(port uint16) Protocol {
	switch port {
	case 80:
		return HTTP
	case 443:
		return TLS
	}
	return AnyProtocol
}

// table is the rules by what a call is looked up as.
type table struct {
	any   bool // any host of the internet
	every bool // at any port
	hosts map[host]reach
	under map[string]reach // *.name, by name
	above map[string]bool  // names under which a rule names something
	ports []uint16
	// routes are the hosts of routes, each with its ports.
	routes map[host][]uint16
}

func newTable(r Rules) (*table, error) {
	if len(r.Hosts) > maxRules || len(r.TCP) > maxRules {
		return nil, fmt.Errorf("more than %d hosts or tcp", maxRules)
	}
	if r.AnyPort && r.Hosts != nil {
		return nil, errors.New("any port is for any host: leave hosts out")
	}
	t := &table{any: r.Hosts == nil, every: r.AnyPort, hosts: map[host]reach{}, under: map[string]reach{}, above: map[string]bool{}}
	for i, entry := range r.Hosts {
		if err := t.addHost(entry); err != nil {
			return nil, &RuleError{"hosts", i, withoutUser(entry), err.Error()}
		}
	}
	for i, entry := range r.TCP {
		if err := t.addTCP(entry); err != nil {
			return nil, &RuleError{"tcp", i, withoutUser(entry), err.Error()}
		}
	}
	for i, port := range r.Ports {
		if port == 0 || slices.Contains(t.ports, port) {
			return nil, &RuleError{"ports", i, strconv.Itoa(int(port)), "want 1 to 65535, each once"}
		}
		t.ports = append(t.ports, port)
	}
	for i, entry := range r.Routes {
		if err := t.addRoute(entry); err != nil {
			return nil, &RuleError{"routes", i, withoutUser(entry), err.Error()}
		}
	}
	return t, nil
}

func (t *table) addHost(entry string) error {
	rest, wild := strings.CutPrefix(entry, "*.")
	if under := strings.TrimLeft(entry, "*."); !wild && under != entry && strings.HasPrefix(entry, "*") {
		if _, _, err := splitRule(under); err == nil {
			return fmt.Errorf("a * stands only as *.name, for all that is under it: write *.%s", under)
		}
	}
	if entry == "*" || !wild && strings.HasPrefix(entry, "*") {
		return errors.New("a * stands only as *.name; a spec that is proxied and has no hosts reaches any host of the internet")
	}
	h, port, err := splitRule(rest)
	if err != nil {
		return err
	}
	if wild && h.literal() {
		return errors.New("an address has nothing under it")
	}
	if err := checkRule(rest, h, port); err != nil {
		return err
	}
	var r reach
	if wild {
		r = t.under[h.name]
	} else {
		r = t.hosts[h]
	}
	if port == 0 {
		r.web = true
	} else {
		r.ports = append(r.ports, port)
	}
	if wild {
		t.under[h.name] = r
		t.above[h.name] = true
	} else {
		t.hosts[h] = r
	}
	t.noteAbove(h)
	return nil
}

// noteAbove notes the names above one that a rule names. An address has none.
func (t *table) noteAbove(h host) {
	for _, above, ok := strings.Cut(h.name, "."); ok && !t.above[above]; _, above, ok = strings.Cut(above, ".") {
		t.above[above] = true
	}
}

func (t *table) addTCP(entry string) error {
	h, port, err := splitRule(entry)
	if err != nil {
		return err
	}
	if port == 0 {
		return errors.New("no port: want " + h.String() + ":<port>")
	}
	if err := checkRule(entry, h, port); err != nil {
		return err
	}
	r := t.hosts[h]
	r.tcp = append(r.tcp, port)
	t.hosts[h] = r
	t.noteAbove(h)
	return nil
}

// splitRule takes an entry apart; no port is zero.
func splitRule(entry string) (host, uint16, error) {
	if err := address(entry); err != nil {
		return host{}, 0, err
	}
	if strings.IndexByte(entry, '*') >= 0 {
		return host{}, 0, errors.New("a * stands only in front of a name, in hosts: *.name")
	}
	if name, ok := strings.CutPrefix(entry, "."); ok && name != "" && name[0] != '.' {
		return host{}, 0, fmt.Errorf("a dot in front: write %s, in hosts also *.%s for what is under it", Shown(name), Shown(name))
	}
	at := strings.LastIndexByte(entry, ':')
	if at < 0 || at < strings.LastIndexByte(entry, ']') {
		h, err := parseHost(entry)
		return h, 0, err
	}
	if a, err := netip.ParseAddr(entry); err == nil {
		return host{}, 0, fmt.Errorf("not in normal form: write [%v]", a.WithZone(""))
	}
	port, err := ParsePort(entry[at+1:])
	if err != nil {
		return host{}, 0, err
	}
	h, err := parseHost(entry[:at])
	return h, port, err
}

// address refuses what was copied from a browser: an address with a scheme, a
// user or a path. A rule is for a host, and would hold for all of its paths.
func address(entry string) error {
	scheme, rest, schemed := strings.Cut(entry, "://")
	if !schemed {
		scheme, rest = "", entry
	}
	host, path, pathed := strings.Cut(rest, "/")
	at := strings.LastIndexByte(host, '@')
	if !schemed && !pathed && at < 0 {
		return nil
	}
	host = host[at+1:]
	if host == "" {
		return errors.New("an address, and without a host: want a host")
	}
	block, _, _ := strings.Cut(path, ":") // in tcp a port may stand behind it
	if _, err := netip.ParsePrefix(strings.Trim(host, "[]") + "/" + block); err == nil {
		return errors.New("a range of addresses, which no rule opens: want each address; lan opens what is not the internet's")
	}
	if schemed && scheme != "http" && scheme != "https" {
		return errors.New("an address with a scheme: want a host, or in tcp a host and a port: " + Shown(host))
	}
	return errors.New("an address, of which a rule has the host alone: write " + Shown(host))
}

// withoutUser is an entry as it may be shown.
func withoutUser(entry string) string {
	scheme, rest, schemed := strings.Cut(entry, "://")
	if !schemed {
		scheme, rest = "", entry
	}
	host, path, pathed := strings.Cut(rest, "/")
	at := strings.LastIndexByte(host, '@')
	if at < 0 {
		return entry
	}
	shown := "...@" + host[at+1:]
	if schemed {
		shown = scheme + "://" + shown
	}
	if pathed {
		shown += "/" + path
	}
	return shown
}

// Written is how a rule of hosts or tcp is shown: in its normal form, so that a
// name that looks like another does not. What is no rule stays as it is.
func Written(entry string) string {
	rest, wild := strings.CutPrefix(entry, "*.")
	h, port, err := splitRule(rest)
	if err != nil {
		return entry
	}
	if wild {
		return "*." + written(h, port)
	}
	return written(h, port)
}

func written(h host, port uint16) string {
	if port == 0 {
		return h.String()
	}
	return h.withPort(port)
}

// checkRule refuses what no rule can open, so that nobody waits for it, and an
// address in another form than its normal one, so that what is read in a rule is
// what is compared. Case, a name's trailing dot and its punycode make no
// difference.
func checkRule(entry string, h host, port uint16) error {
	if normal := written(h, port); h.literal() && !strings.EqualFold(entry, normal) {
		return errors.New("not in normal form: write " + normal)
	}
	if h.localName() {
		return errors.New("this machine's loopback is opened by ports")
	}
	if metadataNames[h.name] {
		return errors.New(metadata.String() + " is never opened")
	}
	if !h.literal() {
		return nil
	}
	switch c := classOf(h.addr, nil); {
	case c == loopback:
		return errors.New("this machine's loopback is opened by ports")
	case c.never():
		return errors.New(c.String() + " is never opened")
	}
	return nil
}

// find gives the reach of every rule that names the host.
func (t *table) find(h host) []reach {
	var all []reach
	if r, ok := t.hosts[h]; ok {
		all = append(all, r)
	}
	for name := h.name; len(t.under) > 0; { // an address has no name, and nothing above it
		_, after, ok := strings.Cut(name, ".")
		if !ok {
			break
		}
		if r, ok := t.under[after]; ok {
			all = append(all, r)
		}
		name = after
	}
	return all
}

// match says whether a rule opens the host at the port; named, whether one
// names it at any.
func (t *table) match(h host, port uint16) (expect Protocol, named, open bool) {
	expect = spoken(port)
	if t.any {
		named = true
		open = t.every || port == 80 || port == 443
	}
	if t.every {
		return AnyProtocol, true, true
	}
	for _, r := range t.find(h) {
		named = true
		e, ok := r.opens(port)
		if !ok {
			continue
		}
		open = true
		expect = min(expect, e) // any protocol by one rule is any protocol
	}
	return expect, named, open
}

// literalTCP says whether tcp names this very address and port, which opens it
// without lan.
func (t *table) literalTCP(h host, port uint16) bool {
	return h.literal() && slices.Contains(t.hosts[h].tcp, port)
}
