package judge

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
)

// A call by a route reaches the hosts that routes name and nothing else, and
// another call reaches none of them so.
func TestByRoute(t *testing.T) {
	system := System{
		Lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
			switch name {
			case "api.example":
				return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
			case "inner.example":
				return []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("10.0.0.1")}, nil
			case "back.example":
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			}
			return nil, errors.New("none")
		},
		Interfaces: func() ([]netip.Prefix, error) { return nil, nil },
	}
	j, err := New(Rules{
		Hosts: []string{"other.example"}, NoInternet: true,
		Routes: []string{"api.example:443", "inner.example:443", "back.example:443", "localhost:11434", "127.0.0.1:8443", "10.0.0.9:443", "192.0.2.9:443"},
	}, system)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		by     By
		host   string
		port   uint16
		reason Reason
		addrs  int
	}{
		{ByRoute, "api.example", 443, "", 1},
		{ByRoute, "API.example.", 443, "", 1},
		{ByRoute, "api.example", 80, Host, 0},
		{ByRoute, "x.api.example", 443, Host, 0},
		{ByRoute, "other.example", 443, Host, 0},
		{ByRoute, "inner.example", 443, Address, 0},
		{ByRoute, "back.example", 443, Address, 0},
		{ByRoute, "localhost", 11434, "", 2},
		{ByRoute, "localhost", 8443, Host, 0},
		{ByRoute, "127.0.0.1", 8443, "", 1},
		{ByRoute, "127.0.0.2", 8443, Host, 0},
		{ByRoute, "10.0.0.9", 443, Address, 0},
		{ByRoute, "192.0.2.9", 443, "", 1},
		{ByConnect, "api.example", 443, NoInternet, 0},
		{ByHTTP, "127.0.0.1", 8443, Address, 0},
		{ByTransparent, "localhost", 11434, Address, 0},
	} {
		d := j.Judge(t.Context(), Call{By: c.by, Host: c.host, Port: c.port})
		if d.Reason != c.reason || d.Allowed != (c.reason == "") || len(d.Addrs) != c.addrs {
			t.Errorf("%s %s:%d: %+v, want %q and %d addresses", c.by, c.host, c.port, d, c.reason, c.addrs)
		}
	}
}

func TestRouteRules(t *testing.T) {
	system := System{Lookup: Machine().Lookup, Interfaces: func() ([]netip.Prefix, error) { return nil, nil }}
	for entry, says := range map[string]string{
		"API.example:443":             "write api.example:443",
		"api.example":                 "no port",
		"169.254.169.254:80":          "never opened",
		"metadata.google.internal:80": "never opened",
		"127.0.0.2:80":                "loopback is opened by ports",
		"sub.localhost:80":            "loopback is opened by ports",
		"*.api.example:443":           "",
	} {
		_, err := New(Rules{Routes: []string{entry}}, system)
		var rule *RuleError
		if !errors.As(err, &rule) || rule.Member != "routes" || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", entry, err, says)
		}
	}
}
