package proxy

import (
	"bufio"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// A SystemProxies is what a machine's owner has set for its programs: the
// proxies by what they are for, and what goes without one. An empty proxy is
// none.
type SystemProxies struct {
	_ [0]func()

	HTTP  string // for plain http
	HTTPS string // for everything else: http_proxy is never used for it
	All   string // for what has none of its own
	// Without is what goes directly, as NO_PROXY has it: names with all below
	// them, .names, addresses and blocks of addresses, each with a port where it
	// holds there only, or *; a comma apart.
	Without string
	// Simple says that names without a dot go directly.
	Simple bool
}

// systemWord begins the text of a system's proxies, and is what the contract
// calls them.
const systemWord = "system"

// Upstream gives the upstream that is made of them. With none set it is direct.
func (s SystemProxies) Upstream() (Upstream, error) {
	var u Upstream
	without := httpproxy.Config{HTTPProxy: "http://set.invalid", HTTPSProxy: "http://set.invalid", NoProxy: withoutList(s.Without)}
	sys := &systemUpstreams{simple: s.Simple, via: without.ProxyFunc()}
	for _, p := range []struct {
		variable, value string
		into            *Upstream
	}{{"HTTP_PROXY", s.HTTP, &sys.http}, {"HTTPS_PROXY", s.HTTPS, &sys.https}, {"ALL_PROXY", s.All, &sys.all}} {
		one, err := parseSystem(p.value)
		if err != nil {
			return Upstream{}, fmt.Errorf("upstream: system: %s: %w", p.variable, err)
		}
		*p.into = one
	}
	if strings.ContainsAny(s.Without, "\r\n\x00") || len(s.Without) > maxWithout {
		return Upstream{}, errors.New("upstream: system: NO_PROXY: want one line of at most 32 KiB")
	}
	if sys.http.set() || sys.https.set() || sys.all.set() {
		u.system = sys
	}
	return u, nil
}

// withoutList is what goes directly as Go's client reads it: curl and libproxy
// take a space for a comma too, and a name with its last dot as the name.
func withoutList(s string) string {
	entries := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
	for i, e := range entries {
		entries[i] = strings.TrimSuffix(e, ".")
	}
	return strings.Join(entries, ",")
}

// maxWithout bounds NO_PROXY, in bytes.
const maxWithout = 32 << 10

// parseSystem reads one proxy as programs do: without a scheme it is http's, and
// socks5h is what we do with socks5 anyway.
func parseSystem(s string) (Upstream, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return Upstream{}, nil
	}
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	scheme, rest, _ := strings.Cut(s, "://")
	scheme = strings.ToLower(scheme)
	switch scheme {
	case "socks5h", "socks":
		scheme = "socks5"
	}
	port := map[string]string{"http": ":80", "https": ":443", "socks5": ":1080"}[scheme]
	if u, err := url.Parse(scheme + "://" + rest); err == nil && u.Port() == "" && !strings.HasSuffix(u.Host, ":") {
		u.Host += port
		return ParseUpstream(u.String())
	}
	return ParseUpstream(scheme + "://" + rest)
}

// Text is the proxies in a form that ParseUpstream reads. It may hold passwords.
func (s SystemProxies) Text() string {
	var b strings.Builder
	b.WriteString(systemWord + "\n")
	for _, line := range [][2]string{{"http", s.HTTP}, {"https", s.HTTPS}, {"all", s.All}, {"without", s.Without}} {
		if line[1] != "" {
			b.WriteString(line[0] + " " + line[1] + "\n")
		}
	}
	if s.Simple {
		b.WriteString("simple\n")
	}
	return b.String()
}

// parseSystemText reads what Text wrote.
func parseSystemText(text string) (Upstream, error) {
	var s SystemProxies
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 2*maxWithout)
	for first := true; lines.Scan(); first = false {
		word, value, _ := strings.Cut(lines.Text(), " ")
		switch {
		case first && word == systemWord:
		case word == "http":
			s.HTTP = value
		case word == "https":
			s.HTTPS = value
		case word == "all":
			s.All = value
		case word == "without":
			s.Without = value
		case word == "simple":
			s.Simple = true
		default:
			return Upstream{}, errors.New("upstream: system: a line that is none")
		}
	}
	return s.Upstream()
}

// A systemUpstreams is an upstream for each kind of call.
type systemUpstreams struct {
	http, https, all Upstream
	via              func(*url.URL) (*url.URL, error) // gives none for what goes directly
	simple           bool
}

// of gives the upstream of one call, whose host is in normal form. A call that
// goes directly is judged as one: by what its name resolves to here.
func (u Upstream) of(by judge.By, host string, port uint16) Upstream {
	if u.system == nil {
		return u
	}
	one, scheme := u.system.https, "https"
	if by == judge.ByHTTP || port == 80 {
		one, scheme = u.system.http, "http"
	}
	if !one.set() {
		one = u.system.all
	}
	if !one.set() || u.system.direct(scheme, host, port) {
		return Upstream{}
	}
	return one
}

// direct says whether NO_PROXY names a host.
func (s *systemUpstreams) direct(scheme, host string, port uint16) bool {
	bare := strings.Trim(host, "[]")
	if _, err := netip.ParseAddr(bare); err != nil && s.simple && !strings.Contains(bare, ".") {
		return true
	}
	via, err := s.via(&url.URL{Scheme: scheme, Host: hostPort(host, port, 0)})
	return err == nil && via == nil
}
