package route

import (
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// socketMax is the longest path of a unix socket in bytes: sun_path is 108
// with its NUL on Linux (unix(7)), 104 on macOS, where the call itself refuses.
const socketMax = 107

// Check judges one route's values. Whether routes can be mounted together is
// for [CheckRoutes].
func (r Route) Check() error {
	if r.Kind == nil {
		return form.Refuse("no kind, want one of " + kindList)
	}
	if err := form.At("name", form.Name(r.Name)); err != nil {
		return err
	}
	if err := form.At("env", form.Each(r.Env, r.checkVariable)); err != nil {
		return err
	}
	if k, is := r.Kind.(interface{ check() error }); is {
		return form.At(r.KindName(), k.check())
	}
	return nil
}

// checkVariable judges a variable that Env names. Its kind's own is no other's.
func (r Route) checkVariable(name string) error {
	if contains(r.own(), name) {
		return nil
	}
	if why := RefusedVariable(name); why != "" {
		return form.Refuse(form.Quote(name) + ": " + why)
	}
	return nil
}

// Check judges a caller's values.
func (c Caller) Check() error {
	key := form.HeaderValue(c.Key)
	if key == nil && len(c.Key) > 256 {
		key = form.Refuse("at most 256 characters")
	}
	return form.First(form.At("sandbox", form.Name(c.Sandbox)), form.At("key", key))
}

func (t Tool) check() error {
	argv := form.Argv(t.Argv)
	if argv == nil {
		argv = form.AtIndex(0, form.Path(t.Argv[0]))
	}
	pattern := func(words []string) error { return form.Each(words, form.Argument) }
	return form.First(
		form.At("argv", argv),
		form.At("ask", form.OneOf(string(t.Ask), string(AskAll), string(AskNone))),
		form.At("allow", form.Each(t.Allow, pattern)),
	)
}

func (m LocalModel) check() error { return form.At("port", onePort(m.Port)) }

func onePort(p uint16) error {
	if p == 0 {
		return form.Refuse("want a whole number of 1 to 65535")
	}
	return nil
}

func (s Secret) check() error {
	placeholder := form.HeaderValue(s.Placeholder)
	if placeholder == nil && strings.Contains(s.Placeholder, s.Value) {
		placeholder = form.Refuse("holds the value, which the program must not have")
	}
	return form.First(s.CheckHanded(), form.At("placeholder", placeholder))
}

// CheckHanded judges a secret as lnk sandbox run is handed it, with no
// placeholder yet.
func (s Secret) CheckHanded() error {
	return form.First(
		form.At("host", checkSecretHost(s.Host)),
		s.checkPlace(),
		form.At("value", form.HeaderValue(s.Value)),
		form.At("paths", form.Each(s.Paths, checkURLPath)),
	)
}

func (s Secret) checkPlace() error {
	switch {
	case s.Header == "" && s.Query == "":
		return form.At("header", form.Refuse("missing, want it or query: where the placeholder stands"))
	case s.Header != "" && s.Query != "":
		return form.At("query", form.Refuse("beside header, want one of them"))
	case s.Header != "":
		return form.At("header", checkHeader(s.Header))
	}
	return form.At("query", form.Token(s.Query))
}

// connectionHeaders are what a proxy reads itself or takes out (RFC 9110
// section 7.6.1): a secret in one would not arrive, or would change where a
// request ends.
var connectionHeaders = []string{
	"connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
}

// checkHeader judges the header that holds a secret.
func checkHeader(name string) error {
	if err := form.HeaderName(name); err != nil {
		return err
	}
	low := strings.ToLower(name)
	if slices.Contains(connectionHeaders, low) || strings.HasPrefix(low, "proxy-") || strings.HasPrefix(low, "lnk-") {
		return form.Refuse(form.Quote(name) + ": a header of the connection or of lnk, not of the request")
	}
	return nil
}

// checkSecretHost judges that it can be one host; its normal form is the
// proxy's to judge, as for every host.
func checkSecretHost(s string) error {
	if err := form.Token(s); err != nil {
		return err
	}
	if strings.ContainsAny(s, "/@?#\\*,") {
		return form.Refuse(form.Quote(s) + ": want one host, and a port if it is not 443")
	}
	return nil
}

// checkURLPath judges a path of a host as an address has it, percent-encoded,
// with no dot segments, so that it means one thing to everyone who reads it.
func checkURLPath(s string) error {
	if err := form.Token(s); err != nil {
		return err
	}
	if s[0] != '/' || strings.ContainsAny(s, "?#\\") {
		return form.Refuse(form.Quote(s) + ": want a path from /, with no ? or #")
	}
	for seg := range strings.SplitSeq(s, "/") {
		if dots := strings.ReplaceAll(strings.ToLower(seg), "%2e", "."); dots == "." || dots == ".." {
			return form.Refuse(form.Quote(s) + ": holds a dot segment")
		}
	}
	return nil
}

func (m Model) check() error {
	return form.First(
		form.At("provider", form.OneOf(m.Provider, slices.Sorted(maps.Keys(baseVariable))...)),
		form.At("upstream", checkModelUpstream(m.Upstream)),
		form.At("header", checkHeader(m.Header)),
		form.At("value", form.HeaderValue(m.Value)),
	)
}

// checkModelUpstream keeps a key from going out in the clear: https, or http
// to this machine's loopback. It is not repeated, since some put keys in it.
func checkModelUpstream(s string) error {
	if err := form.Token(s); err != nil {
		return form.Refuse("empty, or holds white space or a control character")
	}
	u, err := url.Parse(s)
	if err != nil || u.Opaque != "" || u.Hostname() == "" {
		return form.Refuse("want https://host[:port][/path]")
	}
	switch {
	case u.User != nil, u.RawQuery != "", u.ForceQuery, u.Fragment != "", strings.Contains(s, "#"):
		return form.Refuse("holds a user, a query or a fragment, want https://host[:port][/path]")
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && loopback(u.Hostname()):
		return nil
	}
	return form.Refuse("want https://host[:port][/path], http:// only on this machine's loopback")
}

func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

func (b Bridge) check() error {
	err := form.Path(b.Socket)
	if err == nil && len(b.Socket) > socketMax {
		err = form.Refuse(form.Quote(b.Socket) + ": a socket's path is at most 107 bytes")
	}
	return form.At("socket", err)
}
