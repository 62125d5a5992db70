package judge_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

func TestRulesRefused(t *testing.T) {
	for _, c := range []struct {
		member, entry, want string
	}{
		{"hosts", "2001:db8::1", "write [2001:db8::1]"},
		{"hosts", "[::ffff:192.0.2.1]", "write 192.0.2.1"},
		{"hosts", "[2001:db8:0::1]:8443", "write [2001:db8::1]:8443"},
		{"hosts", "192.0.2.1.", "write 192.0.2.1"},
		{"hosts", "ａllowed.example", "not the name it folds to"},
		{"hosts", "allowed.example..", "an empty label"},
		{"hosts", "LocalHost.", "opened by ports"},
		{"hosts", "Metadata.Google.Internal.", "never opened"},
		{"hosts", "example.com:0443", "1 to 65535"},
		{"hosts", "example.com:0", "1 to 65535"},
		{"hosts", "example.com:", "1 to 65535"},
		{"hosts", "example.com:https", "1 to 65535"},
		{"hosts", "https://example.com", "write example.com"},
		{"hosts", "http://example.com:8080/x?y", "write example.com:8080"},
		{"hosts", "https://", "without a host"},
		{"hosts", "ssh://example.com:22", "in tcp a host and a port: example.com:22"},
		{"hosts", "example.com/x", "write example.com"},
		{"hosts", "user:pw@example.com", "write example.com"},
		{"hosts", "10.0.0.0/8", "a range of addresses"}, {"tcp", "10.0.0.0/8:22", "a range of addresses"},
		{"tcp", "[2001:db8::]/32:22", "a range of addresses"},
		{"hosts", "2001:db8::/32", "a range of addresses"},
		{"tcp", "tcp://example.com:22", "example.com:22"},
		{"hosts", "*", "has no hosts reaches any host of the internet"},
		{"hosts", "*example.com", "only as *.name, for all that is under it: write *.example.com"},
		{"hosts", "**.example.com:8443", "write *.example.com:8443"},
		{"hosts", "*", "has no hosts reaches any host"},
		{"hosts", "*\x1b[m", "only as *.name"},
		{"hosts", "a.*.example.com", "in front of a name, in hosts: *.name"},
		{"hosts", "*.*.example.com", "in front of a name"},
		{"hosts", ".example.com", "write example.com, in hosts also *.example.com"},
		{"hosts", "..example.com", "an empty label"},
		{"hosts", "*.", "empty"},
		{"hosts", "", "empty"},
		{"hosts", "*.192.0.2.1", "nothing under it"},
		{"hosts", "*.0.2.1", "ends in a number"},
		{"hosts", "127.1", "ends in a number"},
		{"hosts", "localhost", "opened by ports"},
		{"hosts", "*.localhost", "opened by ports"},
		{"hosts", "127.0.0.1:80", "opened by ports"},
		{"hosts", "[::1]", "opened by ports"},
		{"hosts", "169.254.169.254", "never opened"},
		{"hosts", "metadata.google.internal", "never opened"},
		{"hosts", "0.0.0.0", "never opened"},
		{"hosts", "224.0.0.1", "never opened"},
		{"tcp", "example.com", "no port"},
		{"tcp", "*.example.com:22", "in front of a name, in hosts"},
		{"tcp", ".example.com:22", "write example.com:22"},
		{"tcp", "127.0.0.1:5432", "opened by ports"},
		{"tcp", "169.254.169.254:80", "never opened"},
		{"tcp", "[fe80::1%eth0]:22", "a byte"},
		{"tcp", ":22", "empty"},
	} {
		r := judge.Rules{Hosts: []string{}}
		if c.member == "hosts" {
			r.Hosts = []string{"fine.example", c.entry}
		} else {
			r.TCP = []string{"fine.example:1", c.entry}
		}
		_, err := judge.New(r, (&machine{}).system())
		var rule *judge.RuleError
		if !errors.As(err, &rule) || rule.Member != c.member || rule.Index != 1 || rule.Entry != strings.Replace(c.entry, "user:pw@", "...@", 1) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %q", c.member, c.entry, err, c.want)
		}
	}
	for _, ports := range [][]uint16{{0}, {5, 5}} {
		if _, err := judge.New(judge.Rules{Ports: ports}, (&machine{}).system()); err == nil {
			t.Errorf("ports %v are taken", ports)
		}
	}
	if _, err := judge.New(judge.Rules{AnyPort: true, Hosts: []string{}}, (&machine{}).system()); err == nil {
		t.Error("any port of listed hosts is taken")
	}
	if _, err := judge.New(judge.Rules{}, judge.System{}); err == nil {
		t.Error("a judge without a machine is made")
	}
}

// Case, a trailing dot and punycode make no difference in a rule, as they make
// none in a call; it is shown in one form.
func TestRulesAnyForm(t *testing.T) {
	for entry, want := range map[string]string{
		"GitHub.com":            "github.com:443",
		"github.com.":           "github.com:443",
		"GITHUB.COM.:8443":      "github.com:8443",
		"*.GitHub.com:8443":     "a.github.com:8443",
		"*.GitHub.com.":         "a.github.com:443",
		"bücher.example":        "xn--bcher-kva.example:443",
		"BÜCHER.Example.":       "xn--bcher-kva.example:443",
		"*.bücher.example":      "a.xn--bcher-kva.example:443",
		"XN--BCHER-KVA.example": "xn--bcher-kva.example:443",
		"[2001:DB8::1]:443":     "[2001:db8::1]:443",
	} {
		shown := want
		if !strings.HasSuffix(entry, ":443") {
			shown = strings.TrimSuffix(want, ":443")
		}
		if name, under := strings.CutPrefix(shown, "a."); under {
			shown = "*." + name
		}
		if got := judge.Written(entry); got != shown {
			t.Errorf("%q is shown as %q, want %q", entry, got, shown)
		}
		j, err := judge.New(judge.Rules{Hosts: []string{entry}}, (&machine{}).system())
		if err != nil {
			t.Errorf("%q: %v", entry, err)
			continue
		}
		at := strings.LastIndexByte(want, ':')
		port, _ := judge.ParsePort(want[at+1:])
		if d := j.Rule(judge.Call{By: judge.ByConnect, Host: want[:at], Port: port}); !d.Allowed {
			t.Errorf("%q does not open %s: %s", entry, want, d.Detail)
		}
		for _, other := range []string{"github.com.evil.example", "notgithub.com", "bucher.example", "example", "com", "[2001:db8::2]"} {
			if d := j.Rule(judge.Call{By: judge.ByConnect, Host: other, Port: port}); d.Allowed {
				t.Errorf("%q opens %s", entry, other)
			}
		}
	}
	j, err := judge.New(judge.Rules{Hosts: []string{}, TCP: []string{"DB.Example.:5432"}}, (&machine{}).system())
	if err != nil {
		t.Fatal(err)
	}
	if d := j.Rule(judge.Call{By: judge.ByConnect, Host: "db.example", Port: 5432}); !d.Allowed {
		t.Errorf("tcp in capitals: %s", d.Detail)
	}
	if got := judge.Written("what is no rule"); got != "what is no rule" {
		t.Errorf("what is no rule is shown as %q", got)
	}
}

func TestShown(t *testing.T) {
	for in, want := range map[string]string{
		"evil.example":     "evil.example",
		"a\x00\n\x1b[31mb": `a\x00\n\x1b[31mb`,
		"<script>&'\"":     `\u003cscript\u003e\u0026\u0027\"`,
		"bücher":           `b\u00fccher`,
		"\xff":             `\xff`,
	} {
		if got := judge.Shown(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	if got := judge.Shown(strings.Repeat("\x00", 10000)); len(got) > 2000 {
		t.Errorf("a long host is shown in %d bytes", len(got))
	}
}

func TestParsePort(t *testing.T) {
	for _, s := range []string{"", "0", "00", "0443", "+5", "-1", "65536", "99999", "4 43", " 443", "443 ", "0x50", "٣", "1e3", "4_4"} {
		if p, err := judge.ParsePort(s); err == nil {
			t.Errorf("%q is port %d", s, p)
		}
	}
	if p, err := judge.ParsePort("65535"); err != nil || p != 65535 {
		t.Error(p, err)
	}
}
