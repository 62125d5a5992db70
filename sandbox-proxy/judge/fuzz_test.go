package judge_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// FuzzJudge: nothing is allowed that no rule names, whatever it is called, and
// what is allowed is dialled only where that is open.
func FuzzJudge(f *testing.F) {
	for _, s := range []string{"ok.test", "OK.test.", "a.wild.test", "wild.test", "127.0.0.1", "[::1]", "localhost", "bücher.test", "127。0。0。1", "10.1.2.3", "[64:ff9b::7f00:1]", "169.254.169.254", "private.test", "a\x00.ok.test", "0x7f.1", "192.0.2.9"} {
		for _, port := range []uint16{0, 22, 80, 443, 5432} {
			f.Add(s, port)
		}
	}
	m := &machine{names: map[string]string{
		"ok.test": "192.0.2.1", "a.wild.test": "192.0.2.2", "private.test": "10.0.0.1", "db.test": "192.0.2.3", "xn--bcher-kva.test": "192.0.2.4",
	}, own: "192.168.1.2/24"}
	j, err := judge.New(judge.Rules{
		Hosts: []string{"ok.test", "*.wild.test", "private.test", "xn--bcher-kva.test:8443", "192.0.2.9"}, TCP: []string{"db.test:5432", "10.1.2.3:22"}, Ports: []uint16{5432},
	}, m.system())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, host string, port uint16) {
		m.lookup = nil
		d := j.Judge(t.Context(), judge.Call{By: judge.ByConnect, Host: host, Port: port})
		named := named(d.Host, d.Port)
		if len(m.lookup) > 0 && !named {
			t.Fatalf("%q was looked up as %q", host, m.lookup)
		}
		if !d.Allowed {
			if d.Reason == "" || d.Detail == "" || len(d.Addrs) > 0 {
				t.Fatalf("%q is refused with %+v", host, d)
			}
			return
		}
		if !named || port != d.Port {
			t.Fatalf("%q is allowed as %s, which no rule names", host, d.Target())
		}
		if len(d.Addrs) == 0 || strings.ToLower(d.Host) != d.Host || strings.HasSuffix(d.Host, ".") {
			t.Fatalf("%q is allowed as %q at %v", host, d.Host, d.Addrs)
		}
		for _, a := range d.Addrs {
			local := a.Addr().IsLoopback() && port == 5432
			if !local && a != netip.MustParseAddrPort("10.1.2.3:22") && !netip.MustParsePrefix("192.0.2.0/24").Contains(a.Addr()) || a.Port() != port {
				t.Fatalf("%q is allowed to dial %v", host, a)
			}
		}
		again := j.Judge(t.Context(), judge.Call{By: judge.BySOCKS, Host: d.Host, Port: d.Port})
		if !again.Allowed || again.Host != d.Host {
			t.Fatalf("%q is %q, which is %q", host, d.Host, again.Host)
		}
		if name := j.Name(host); !d.Literal && !name.Allowed {
			t.Fatalf("%q may be called and not be asked for", host)
		}
	})
}

// named says whether the rules above name a host in normal form at a port.
func named(host string, port uint16) bool {
	web := port == 80 || port == 443
	switch {
	case host == "ok.test", host == "private.test", host == "192.0.2.9", strings.HasSuffix(host, ".wild.test") && len(host) > len(".wild.test"):
		return web
	case host == "xn--bcher-kva.test":
		return port == 8443
	case host == "db.test", host == "localhost", host == "127.0.0.1", host == "[::1]":
		return port == 5432
	case host == "10.1.2.3":
		return port == 22
	}
	return false
}
