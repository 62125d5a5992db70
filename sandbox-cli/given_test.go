package cli

import (
	"slices"
	"strings"
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

func givenFor(git bool, hosts ...string) given {
	g := given{env: map[string]string{"MINE": "x"}}
	for i, host := range hosts {
		n := string(rune('A' + i))
		g.secrets = append(g.secrets, givenSecret{
			Secret: client.Secret{
				Secret: route.Secret{Host: host, Header: "authorization", Value: "Bearer abcdefgh"},
				URL:    "URL_" + n, Placeholder: "TOKEN_" + n, Git: git,
			},
			placeholder: "Bearer hgfedcba",
		})
	}
	for i := range g.secrets {
		g.secrets[i].route = g.routeName(i)
	}
	return g
}

// The way out that a secret's route needs is the confinement's own proxy, or
// one that reaches nothing else.
func TestSecretsGetAProxy(t *testing.T) {
	g := givenFor(false, "a.example", "a.example:8443", "[2001:db8::1]")
	c := client.Confinement{Name: "x"}
	for _, net := range []client.Net{
		client.NetOf(client.Closed{}), client.NetOf(client.Loopback{Ports: []uint16{5432}, Dir: "/d"}),
		client.NetOf(client.Proxied{Proxy: client.Proxy{Upstream: "http://up.example:1", Dir: "/d", Hosts: []string{"h.example"}}, Ports: []uint16{5432}}),
	} {
		c.Net = net
		got, err := g.into(c, "/sockets")
		if err != nil {
			t.Fatal(err)
		}
		p := got.Net.Mode().(client.Proxied)
		var names []string
		for _, r := range p.Proxy.Routes {
			names = append(names, r.Name)
		}
		if want := []string{"a.example", "a.example-2", "secret"}; !slices.Equal(names, want) {
			t.Errorf("routes %q, want %q", names, want)
		}
		switch mode := net.Mode().(type) {
		case client.Proxied:
			if !slices.Equal(p.Proxy.Hosts, mode.Proxy.Hosts) || p.Proxy.Upstream != mode.Proxy.Upstream || !slices.Equal(p.Ports, mode.Ports) {
				t.Errorf("%+v", p)
			}
		case client.Loopback:
			if !slices.Equal(p.Ports, mode.Ports) || p.Proxy.Hosts == nil {
				t.Errorf("%+v", p)
			}
		default:
			if p.Proxy.Hosts == nil || len(p.Proxy.Hosts) > 0 || p.Proxy.Dir != "/sockets" {
				t.Errorf("it reaches more than its routes: %+v", p.Proxy)
			}
		}
	}
	c.Net = client.NetOf(client.Host{})
	if _, err := g.into(c, "/sockets"); err == nil || statusOf(err) != statusRefused {
		t.Errorf("host: %v", err)
	}
}

func TestGivenEnvironment(t *testing.T) {
	g := givenFor(true, "a.example", "b.example:8443")
	base := map[string]string{"URL_A": "http://127.0.0.1:1/s/secret/a", "URL_B": "http://127.0.0.1:1/s/secret/b", "TMPDIR": "/tmp"}
	env, err := g.environment(base)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"MINE": "x", "TOKEN_A": "Bearer hgfedcba", "TMPDIR": "/tmp", "GIT_CONFIG_COUNT": "4",
		"GIT_CONFIG_KEY_0": "url.http://127.0.0.1:1/s/secret/a/.insteadOf", "GIT_CONFIG_VALUE_0": "https://a.example/",
		"GIT_CONFIG_KEY_1": "http.http://127.0.0.1:1/s/secret/a/.extraHeader", "GIT_CONFIG_VALUE_1": "authorization: Bearer hgfedcba",
		"GIT_CONFIG_VALUE_2": "https://b.example:8443/",
	} {
		if env[name] != want {
			t.Errorf("%s is %q, want %q", name, env[name], want)
		}
	}
	if _, changed := base["MINE"]; changed {
		t.Error("the chain's own environment is changed")
	}
	base["TOKEN_A"] = "taken"
	if _, err := g.environment(base); err == nil || statusOf(err) != statusRefused {
		t.Errorf("a variable that the sandbox sets: %v", err)
	}
	if err := givenFor(true, "a.example", "a.example:443").check(); err == nil || !strings.Contains(err.Error(), "/secrets/1/git") {
		t.Errorf("git is set up twice for one host: %v", err)
	}
}

func TestWritten(t *testing.T) {
	for template, want := range map[string]string{
		"": "tok", "{}": "tok", "Bearer {}": "Bearer tok", "Basic x:{}": "Basic eDp0b2s=", "basic {}:x": "basic dG9rOng=", "Basic {}": "Basic tok",
	} {
		if got := written(template, "tok"); got != want {
			t.Errorf("%q: %q, want %q", template, got, want)
		}
	}
}
