package cli

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// The rules that are learned let through what was used, as it was used, and
// nothing beside it.
func TestLearnedRules(t *testing.T) {
	var l learner
	uses := []proxy.Learned{
		{Host: "a.test", Port: 443, Spoke: judge.TLS},
		{Host: "a.test", Port: 80, Spoke: judge.HTTP},
		{Host: "b.test", Port: 443},
		{Host: "c.test", Port: 80, Spoke: judge.TLS},
		{Host: "d.test", Port: 8443, Spoke: judge.TLS},
		{Host: "e.test", Port: 22},
		{Host: "192.0.2.7", Port: 443, Literal: true, Spoke: judge.TLS},
		{Host: "[2001:db8::7]", Port: 443, Literal: true, Spoke: judge.TLS},
		{Host: "[2001:db8::7]", Port: 25, Literal: true},
		{Host: "192.0.2.8", Port: 5432, Literal: true},
	}
	for range 2 {
		for _, u := range uses {
			l.note(u)
		}
	}
	hosts, tcp := l.rules()
	if got, want := strings.Join(hosts, " "), "192.0.2.7 [2001:db8::7] a.test d.test:8443"; got != want {
		t.Errorf("hosts %s, want %s", got, want)
	}
	if got, want := strings.Join(tcp, " "), "192.0.2.8:5432 [2001:db8::7]:25 b.test:443 c.test:80 e.test:22"; got != want {
		t.Errorf("tcp %s, want %s", got, want)
	}
	j, err := judge.New(judge.Rules{Hosts: hosts, TCP: tcp}, judge.System{
		Lookup:     func(context.Context, string) ([]netip.Addr, error) { return nil, nil },
		Interfaces: func() ([]netip.Prefix, error) { return nil, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range uses {
		d := j.Rule(judge.Call{By: judge.ByConnect, Host: u.Host, Port: u.Port})
		if !d.Allowed || d.Expect != judge.AnyProtocol && d.Expect != u.Spoke {
			t.Errorf("%+v: %+v", u, d)
		}
	}
	for _, no := range []proxy.Learned{{Host: "b.test", Port: 80}, {Host: "e.test", Port: 443}, {Host: "x.a.test", Port: 443}} {
		if d := j.Rule(judge.Call{By: judge.ByConnect, Host: no.Host, Port: no.Port}); d.Allowed {
			t.Errorf("%+v is let through", no)
		}
	}
	var b strings.Builder
	l.print(&b)
	if !strings.Contains(b.String(), "\nhosts = [\"192.0.2.7\", \"[2001:db8::7]\", \"a.test\", \"d.test:8443\"]\ntcp = [") {
		t.Errorf("printed\n%s", b.String())
	}
}
