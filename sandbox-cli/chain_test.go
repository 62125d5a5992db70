package cli

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/inside"
)

var update = flag.Bool("update", false, "write the golden files anew")

var testSetting = setting{self: "/opt/lnk/lnk-sandbox", wall: "/opt/lnk/sandbox-wall", home: "/home/u", dir: "/home/u/.lnk"}

// Each request under testdata/chain gives the chain beside it.
func TestChainGolden(t *testing.T) {
	requests, err := filepath.Glob("testdata/chain/*.request.json")
	if err != nil || len(requests) == 0 {
		t.Fatalf("no requests: %v", err)
	}
	for _, path := range requests {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			request, err := client.ReadWrapRequest(f)
			if err != nil {
				t.Fatal(err)
			}
			made, err := chainOf(*request.Confinement, request.Argv, testSetting)
			if err != nil {
				t.Fatal(err)
			}
			again, _ := chainOf(*request.Confinement, request.Argv, testSetting)
			if !slices.Equal(made.argv, again.argv) {
				t.Error("the same request gives another chain")
			}
			env, err := json.MarshalIndent(made.env, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(made.argv, "\n") + "\n\n" + string(env) + "\n"
			golden := strings.TrimSuffix(path, ".request.json") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// What this version does not enforce is refused, not left out.
func TestChainRefuses(t *testing.T) {
	at, taken := uint16(19200), uint16(61)
	many := make([]uint16, inside.MaxPorts+1)
	for i := range many {
		many[i] = uint16(2000 + i)
	}
	base := func(m client.NetMode) client.Confinement {
		return client.Confinement{Name: "x", Write: []string{}, Read: []string{}, Commands: client.AnyCommand(), Net: client.NetOf(m)}
	}
	proxied := func(p client.Proxy) client.Confinement {
		p.Dir, p.Hosts = "/d", []string{}
		return base(client.Proxied{Proxy: p})
	}
	for says, c := range map[string]client.Confinement{
		"missing":           base(nil),
		"serve: port 53":    proxied(client.Proxy{Serve: []uint16{53}}),
		"serve: port 61":    proxied(client.Proxy{Serve: []uint16{61}}),
		"serve: port 19200": proxied(client.Proxy{Serve: []uint16{19200}, Listen: &at}),
		"it is served too":  base(client.Proxied{Proxy: client.Proxy{Dir: "/d", Hosts: []string{}, Serve: []uint16{80}}, Ports: []uint16{80}}),
		"system":            proxied(client.Proxy{Upstream: "system"}),

		"net/proxied: not a network that can be made: port 53":    base(client.Proxied{Proxy: client.Proxy{Dir: "/d", Hosts: []string{}}, Ports: []uint16{53}}),
		"net/proxied: not a network that can be made: proxy port": proxied(client.Proxy{Listen: &taken}),
		"net/loopback: not a network that can be made: port 61":   base(client.Loopback{Ports: []uint16{80, 61}, Dir: "/d"}),
		"net/host: not a network that can be made: ports: 257":    base(client.Host{Ports: many}),
		"net/reaching: not a network that can be made: port 53":   base(client.Reaching{Reached: []client.Reached{{Dir: "/d", Port: 53}}, Ports: []uint16{80}}),
		"port 80: it is named already":                            base(client.Reaching{Reached: []client.Reached{{Dir: "/d", Port: 80}}, Ports: []uint16{80}}),
	} {
		if _, err := chainOf(c, []string{"true"}, testSetting); err == nil || !strings.Contains(err.Error(), says) || statusOf(err) != statusRefused {
			t.Errorf("%s: %v", says, err)
		}
	}
}

// Credentials of an upstream never stand in an argv.
func TestUpstreamCredentialsAreNotInTheArgv(t *testing.T) {
	c := client.Confinement{
		Name: "x", Write: []string{}, Read: []string{}, Commands: client.AnyCommand(),
		Net: client.NetOf(client.Proxied{Proxy: client.Proxy{Upstream: "http://user:hunter2@10.0.0.1:3128", Dir: "/d", Hosts: []string{}}}),
	}
	made, err := chainOf(c, []string{"true"}, testSetting)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(strings.Join(made.argv, " "), "hunter2") {
		t.Error("the password is in the argv")
	}
	if len(made.files) != 1 || !strings.Contains(made.files["/home/u/.lnk/sandbox/x.upstream"], "hunter2") {
		t.Errorf("the proxy is not told: %v", made.files)
	}
}

func TestProxyFlagsRoundTrip(t *testing.T) {
	f := proxyFlags{
		Name: "x", Settings: "/s", Upstream: "direct", Hosts: []string{"a.test", "*.b.test:8443"}, TCP: []string{"c.test:22"},
		Ports: []uint16{1, 65535}, LAN: true, NoInternet: true, PerMinute: 5, ProxyPort: 19190, Terminal: true, Tell: true,
		wayFlags: wayFlags{Mode: wayProxied, Serve: []uint16{3000, 3001}},
	}
	got, rest, err := parseProxyFlags(append(f.args(), "--", "wall", "--host", "y"))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := strings.Join(got.args(), " "), strings.Join(f.args(), " "); a != b {
		t.Errorf("got %s\nwant %s", a, b)
	}
	if !slices.Equal(rest, []string{"wall", "--host", "y"}) {
		t.Errorf("rest %q", rest)
	}
	for _, bad := range [][]string{{"--port", "0", "--", "x"}, {"--port", "70000", "--", "x"}, {"--hots", "a", "--", "x"}, {"x"}} {
		if _, _, err := parseProxyFlags(append([]string{"--proxy-port", "1", "--settings", "/s"}, bad...)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
