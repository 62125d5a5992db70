package cli

import (
	"strings"
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

func TestFill(t *testing.T) {
	for v, want := range map[string]string{
		"A=http://127.0.0.1:0":                               "A=http://127.0.0.1:4711",
		"A=http://lnk:s@127.0.0.1:0/":                        "A=http://lnk:s@127.0.0.1:4711/",
		"A=http://127.0.0.1:0/tool/gh/ 'http://127.0.0.1:0'": "A=http://127.0.0.1:4711/tool/gh/ 'http://127.0.0.1:4711'",
		"A=http://127.0.0.1:0?x#y":                           "A=http://127.0.0.1:4711?x#y",
		"A=http://127.0.0.1:08":                              "A=http://127.0.0.1:08",
		"A=http://127.0.0.1:0.example":                       "A=http://127.0.0.1:0.example",
		"A=http://127.0.0.1:0@evil.example":                  "A=http://127.0.0.1:0@evil.example",
		"A=127.0.0.1:0":                                      "A=127.0.0.1:0",
		"A=http://x127.0.0.1:0":                              "A=http://x127.0.0.1:0",
		"A=http://127.0.0.1:8080":                            "A=http://127.0.0.1:8080",
		"A=":                                                 "A=",
	} {
		if got := fill(v, 4711); got != want {
			t.Errorf("%s: %s, want %s", v, got, want)
		}
	}
}

// The secret is in one variable, and in no argv.
func TestUnwalledChain(t *testing.T) {
	const secret = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	s := testSetting
	s.self = "/opt/my tools/lnk-sandbox"
	s.secret = func() string { return secret }
	port := uint16(4000)
	for _, listen := range []*uint16{nil, new(uint16), &port} {
		u := client.Unwalled{Name: "x", Pointed: true, Proxy: client.Proxy{Upstream: "direct", Hosts: []string{"a.test"}, Listen: listen}}
		made, err := unwalledChain(u, []string{"npm", "test"}, s)
		if err != nil {
			t.Fatal(err)
		}
		at := "127.0.0.1:0"
		if listen == &port {
			at = "127.0.0.1:4000"
		}
		if got := made.env["HTTPS_PROXY"]; got != "http://lnk:"+secret+"@"+at {
			t.Errorf("HTTPS_PROXY is %s", got)
		}
		for name, value := range made.env {
			if name != "HTTPS_PROXY" && strings.Contains(value, secret) {
				t.Errorf("%s has the secret too", name)
			}
		}
		argv := strings.Join(made.argv, " ")
		if strings.Contains(argv, secret) || !strings.HasSuffix(argv, " --listen "+strings.TrimPrefix(at, "127.0.0.1:")+" --pointed-by HTTPS_PROXY -- npm test") {
			t.Errorf("argv: %s", argv)
		}
		if got, want := made.env["GIT_SSH_COMMAND"], `ssh -o ProxyCommand=''\''/opt/my tools/lnk-sandbox'\'' connect --by HTTPS_PROXY %h %p'`; got != want {
			t.Errorf("GIT_SSH_COMMAND is %s\nwant %s", got, want)
		}
		u.Pointed = false
		if made, err = unwalledChain(u, []string{"npm", "test"}, s); err != nil || len(made.env) != 0 {
			t.Errorf("not pointed: %v, %v", made.env, err)
		}
	}
}

func TestWayFlagsThatDoNotGoTogether(t *testing.T) {
	for _, bad := range []string{
		"--listen 1 --dir /d", "--listen 1 --serve 3", "--pointed-by X --proxy-port 1", "--hold --proxy-port 1", "--dir /d --agent-user 5",
		"--dir /d --group 5", "--proxy-port 1 --agent-user 5 --group 5", "--dir d", "--dir /d/../e", "--listen 65536", "--mode reaching",
		"--dir /d --agent-user -1 --group 5", "--proxy-port 0",
	} {
		if _, _, err := parseProxyFlags(append(append([]string{"--settings", "/s"}, strings.Fields(bad)...), "--", "x")); err == nil {
			t.Errorf("%s: taken", bad)
		}
	}
	five, port := 5, uint16(0)
	for _, f := range []wayFlags{
		{Mode: wayHost}, {Mode: wayLoopback}, {Mode: wayProxied, Listen: &port, PointedBy: "X"},
		{Mode: wayProxied, Dir: "/d", Hold: true, Serve: []uint16{3}, Agent: &five, Group: &five},
	} {
		all := proxyFlags{Name: "x", Settings: "/s", Upstream: "direct", wayFlags: f}
		got, _, err := parseProxyFlags(all.args())
		if err != nil {
			t.Errorf("%v: %v", all.args(), err)
		} else if a, b := strings.Join(got.args(), " "), strings.Join(all.args(), " "); a != b {
			t.Errorf("got %s\nwant %s", a, b)
		}
	}
}
