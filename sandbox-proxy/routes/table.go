package routes

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	measure "github.com/lnkhq/lnk-sandbox/measure-contract"
	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// A Bridge serves one route: see the package.
type Bridge interface {
	http.Handler
	// Close lets go of what the bridge holds. No call is under way.
	Close() error
}

// With is what a bridge may use.
type With struct {
	_ [0]func()

	// Proxy is the sandbox's.
	Proxy *proxy.Proxy
	// Mount is where the route is mounted, as the program names it, with no
	// slash at its end: "/<url secret>/tool/gh". It is a secret where the
	// route needs one.
	Mount string
	// TLS is for hosts; nil is the system's roots. Set in tests.
	TLS *tls.Config
}

// A Maker makes the bridge of a route of its kind.
type Maker func(r route.Route, with With) (Bridge, error)

// Kinds are the makers by the name of the kind: "secret", "tool".
type Kinds map[string]Maker

// A Table is the routes of one proxy. It is [proxy.Config.Local].
type Table struct {
	proxy  *proxy.Proxy
	caller route.Caller
	secret [sha256.Size]byte
	any    bool              // there is a URL secret
	open   map[string]*mount // by "kind/name"
	under  map[string]*mount
}

type mount struct {
	name   string // "kind/name"
	told   bool   // its bridge is told who calls
	bridge Bridge
}

// New makes the bridges of routes and mounts them. A kind that has no maker is
// refused. Close closes what was made. No routes are a table that has nothing.
func New(p *proxy.Proxy, m route.Mounts, kinds Kinds) (*Table, error) {
	if err := m.Check(); err != nil && len(m.Routes) > 0 {
		return nil, err
	}
	t := &Table{
		proxy: p, caller: m.Caller, secret: sha256.Sum256([]byte(m.URLSecret)), any: m.URLSecret != "",
		open: map[string]*mount{}, under: map[string]*mount{},
	}
	for _, r := range m.Routes {
		if err := t.mount(r, m, kinds); err != nil {
			t.Close()
			return nil, fmt.Errorf("route %s/%s: %w", r.KindName(), r.Name, err)
		}
	}
	return t, nil
}

func (t *Table) mount(r route.Route, m route.Mounts, kinds Kinds) error {
	make, known := kinds[r.KindName()]
	if !known {
		return errors.New("routes of this kind are not served by this version: leave it out")
	}
	if r.UnderSecret() && !t.any {
		return errors.New("it is mounted under the URL secret, and there is none")
	}
	bridge, err := make(r, With{Proxy: t.proxy, Mount: strings.TrimSuffix(r.Path(m.URLSecret), "/")})
	if err != nil {
		return err
	}
	at := &mount{name: r.KindName() + "/" + r.Name, bridge: bridge}
	switch r.Kind.(type) {
	case route.Secret, route.Model: // what they call is no bridge of lnk's
	default:
		at.told = true
	}
	if r.UnderSecret() {
		t.under[at.name] = at
	} else {
		t.open[at.name] = at
	}
	return nil
}

// Close closes every bridge. The proxy is closed before.
func (t *Table) Close() error {
	var all []error
	for _, set := range []map[string]*mount{t.open, t.under} {
		for _, m := range set {
			all = append(all, m.bridge.Close())
		}
	}
	return errors.Join(all...)
}

// Tokens is what the answers of all model routes used. It is false where there
// is no such route. A bridge counts when it has a method of this name.
func (t *Table) Tokens() (sum measure.Tokens, counts bool) {
	for _, set := range []map[string]*mount{t.open, t.under} {
		for _, m := range set {
			if b, is := m.bridge.(interface{ Tokens() measure.Tokens }); is {
				sum.Add(b.Tokens())
				counts = true
			}
		}
	}
	return sum, counts
}

// The headers that tell a bridge who calls.
const (
	callerHeader    = "Lnk-Caller"
	callerKeyHeader = "Lnk-Caller-Key"
)

// ServeHTTP finds the route of a request and has its bridge answer.
func (t *Table) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m, rest := t.find(r.RequestURI)
	if m == nil || !here(r.Host) {
		t.proxy.Missing(w, r)
		return
	}
	rest = escaped(rest)
	at, err := url.ParseRequestURI(rest)
	if err != nil {
		t.proxy.Missing(w, r)
		return
	}
	trailer := r.Trailer // filled by the server when the body has been read
	r = r.Clone(r.Context())
	r.Trailer = trailer
	r.URL, r.RequestURI = at, rest
	withoutCaller(r.Header)
	if trailer != nil {
		withoutCaller(trailer)
		r.Body = &trailed{r.Body, trailer}
	}
	r.Header.Del("Proxy-Authorization")
	if m.told {
		r.Header.Set(callerHeader, t.caller.Sandbox)
		r.Header.Set(callerKeyHeader, t.caller.Key)
	}
	t.proxy.Visit(w, r, m.name, m.bridge)
}

// withoutCaller takes out what a program says of who calls: also in Lnk_Caller,
// which a bridge behind CGI's naming reads as the same.
func withoutCaller(h http.Header) {
	for name := range h {
		if plain := strings.ReplaceAll(strings.ToLower(name), "_", "-"); strings.HasPrefix(plain, "lnk-caller") {
			delete(h, name)
		}
	}
}

// trailed is a body behind which trailers come, those that were not announced
// too: some who serve take them for headers (RFC 9110 section 6.5.1).
type trailed struct {
	io.ReadCloser
	trailer http.Header
}

func (t *trailed) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	if err != nil {
		withoutCaller(t.trailer)
	}
	return n, err
}

// escaped is a target with what no path may hold escaped, and every escape that
// is there kept: net/url would decode the whole path to write it anew, and an
// escaped slash would become one.
func escaped(target string) string {
	path, query, asked := strings.Cut(target, "?")
	var b strings.Builder
	for i := range len(path) {
		if c := path[i]; c < 0x80 && strings.IndexByte("\"<>\\^`{|}", c) < 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if asked {
		b.WriteString("?" + query)
	}
	return b.String()
}

// find gives the mount that a request's target names, and what follows it. The
// path is taken as it was sent: a slash that is escaped is none, and no segment
// means another.
func (t *Table) find(target string) (*mount, string) {
	path, query, asked := strings.Cut(target, "?")
	if asked {
		query = "?" + query
	}
	first, rest := segment(path)
	said := sha256.Sum256([]byte(first))
	right := subtle.ConstantTimeCompare(said[:], t.secret[:]) == 1 && t.any
	under := t.open
	if right {
		under = t.under
		first, rest = segment(rest)
	}
	name, rest := segment(rest)
	m := under[first+"/"+name]
	if m == nil {
		return nil, ""
	}
	if rest == "" {
		rest = "/"
	}
	return m, rest + query
}

// segment gives the first segment of a path and what follows it, which is empty
// or begins with a slash.
func segment(path string) (first, rest string) {
	path = strings.TrimPrefix(path, "/")
	if i := strings.IndexByte(path, '/'); i >= 0 {
		return path[:i], path[i:]
	}
	return path, ""
}

// here says whether a Host is this machine's loopback, as routes are named by:
// a page in a browser that reaches a proxy on loopback by a name of its own is
// not let in. HTTP/1.0 may go without.
func here(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	a, err := netip.ParseAddr(host)
	return host == "" || strings.EqualFold(host, "localhost") || err == nil && a.Unmap().IsLoopback()
}
