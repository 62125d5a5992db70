package proxy_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

const scutil = `<dictionary> {
  ExceptionsList : <array> {
    0 : *.local
    1 : 169.254/16
    2 : direct.test
  }
  ExcludeSimpleHostnames : 1
  FTPPassive : 1
  HTTPEnable : 1
  HTTPPort : 3128
  HTTPProxy : plain.test
  HTTPSEnable : 0
  HTTPSPort : 3129
  HTTPSProxy : off.test
  SOCKSEnable : 1
  SOCKSPort : 1080
  SOCKSProxy : 2001:db8::1
}
`

func TestReadSystemProxies(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	mac := func() (string, error) { return scutil, nil }
	for _, c := range []struct {
		name     string
		env      func(string) string
		settings func() (string, error)
		want     string
	}{
		{"nothing", env(), nil, "system\n"},
		{"the environment", env("HTTPS_PROXY", "http://p.test:1", "NO_PROXY", "a,b"), mac, "system\nhttps http://p.test:1\nwithout a,b\n"},
		{"both cases", env("HTTP_PROXY", "upper", "http_proxy", "lower"), nil, "system\nhttp lower\n"},
		{"a web server's", env("HTTP_PROXY", "evil", "REQUEST_METHOD", "GET", "ALL_PROXY", "all"), nil, "system\nall all\n"},
		{"macOS", env("NO_PROXY", "x"), mac, "system\nhttp http://plain.test:3128\nall socks5://[2001:db8::1]:1080\nwithout .local,169.254.0.0/16,direct.test\nsimple\n"},
	} {
		s, err := proxy.ReadSystemProxies(c.env, c.settings)
		if err != nil || s.Text() != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, s.Text(), err, c.want)
			continue
		}
		if _, err := s.Upstream(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for name, settings := range map[string]func() (string, error){
		"a program": func() (string, error) {
			return "<dictionary> {\n  ProxyAutoConfigEnable : 1\n  ProxyAutoConfigURLString : http://x/\n}\n", nil
		},
		"unreadable": func() (string, error) { return "", errors.New("no") },
	} {
		if s, err := proxy.ReadSystemProxies(env(), settings); err == nil {
			t.Errorf("%s: read as %q", name, s.Text())
		}
	}
}

func TestSystemUpstreamRefuses(t *testing.T) {
	for _, s := range []proxy.SystemProxies{
		{HTTP: "ftp://p.test"}, {HTTPS: "http://p.test/path"}, {All: "http://:0"}, {HTTP: "http://user:s3cret@/"}, {Without: "a\nhttps http://evil.test:1"},
	} {
		if u, err := s.Upstream(); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v, %v", s.Text(), u, err)
		}
	}
	// What the text of one says, another reads, and nothing else.
	for _, text := range []string{"system", "system\nhttp http://p.test:1\nftp x\n", "system\nhttp http://p.test:1\nsystem\n"} {
		if u, err := proxy.ParseUpstream(text); err == nil {
			t.Errorf("%q: read as %v", text, u)
		}
	}
	s := proxy.SystemProxies{HTTP: "u:s3cret@p.test:1", HTTPS: "p.test"}
	u, err := proxy.ParseUpstream(s.Text())
	if err != nil || u.String() != "system" {
		t.Errorf("%v, %v", u, err)
	}
	if none, err := (proxy.SystemProxies{Without: "x"}).Upstream(); err != nil || none.String() != "direct" {
		t.Errorf("none: %v, %v", none, err)
	}
}

// Each kind of call goes by the proxy that is set for it, or directly where
// NO_PROXY has the host; both are judged, and what goes directly by its
// addresses here.
func TestSystemUpstream(t *testing.T) {
	plain, secure := newFar(t, ""), newFar(t, "user:word")
	system := func(l *lab, _ *judge.Rules, c *proxy.Config) {
		var err error
		c.Upstream, err = proxy.SystemProxies{
			HTTP: plain.ln.Addr().String(), HTTPS: "http://user:word@" + secure.ln.Addr().String(),
			Without: ".direct.test 10.0.0.0/8\t,  ported.test:7, whole.test.",
		}.Upstream()
		if err != nil {
			l.t.Fatal(err)
		}
	}
	l := newLab(t, system, hosts("ok.test", "ok.test:7", "unknown.test:7", "a.direct.test", "a.direct.test:7", "b.direct.test:7", "in.direct.test:7", "ported.test:7", "ported.test:9", "no.test:7", "whole.test:7"))
	l.name("ok.test", "192.0.2.1")
	l.name("ported.test", "192.0.2.2")
	l.name("in.direct.test", "10.1.1.1")
	l.origin("a.direct.test", 7, echo)
	l.site("a.direct.test", 80, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "direct") })
	l.origin("ported.test", 7, echo)
	if got := l.connect("ok.test:7").read(8); got != "220 hi\r\n" {
		t.Errorf("by HTTPS_PROXY: %q", got)
	}
	l.connect("unknown.test:7") // the upstream may know it
	l.connect("ported.test:9")
	l.connect("a.direct.test:7")
	l.connect("ported.test:7")
	l.origin("whole.test", 7, func(c *net.TCPConn) { io.WriteString(c, "direct") })
	if got := l.connect("whole.test:7").read(6); got != "direct" {
		t.Errorf("whole.test: %q", got)
	}
	for host, want := range map[string]string{"b.direct.test:7": "no address is known", "in.direct.test:7": "private", "no.test:7": "the upstream proxy refused it (403)"} {
		if resp, body := l.ask("CONNECT " + host + " HTTP/1.1\r\n\r\n"); resp.StatusCode == 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %q", host, resp.StatusCode, body)
		}
	}
	for host, want := range map[string]string{"ok.test": "far:", "a.direct.test": "direct"} {
		if resp, body := l.ask("GET http://" + host + "/ HTTP/1.1\r\nHost: " + host + "\r\n\r\n"); resp.StatusCode != 200 || body != want {
			t.Errorf("%s: %d %q", host, resp.StatusCode, body)
		}
	}
	if saw := secure.saw(); !contains(saw, "CONNECT ok.test:7 ", "CONNECT unknown.test:7 ", "CONNECT ported.test:9 ", "CONNECT no.test:7 ") || strings.Contains(saw, "direct.test") || strings.Contains(saw, "ported.test:7") || strings.Contains(saw, "GET") {
		t.Errorf("HTTPS_PROXY saw\n%s", saw)
	}
	if saw := plain.saw(); saw != "GET http://ok.test/ host=ok.test map[]" {
		t.Errorf("HTTP_PROXY saw\n%s", saw)
	}
}
