package proxy_test

import (
	"bufio"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// raw serves a name's port with one answer, as it is written.
func (l *lab) raw(name string, answers map[string]string) {
	l.origin(name, 80, func(c *net.TCPConn) {
		o := bufio.NewReader(c)
		for {
			r, err := http.ReadRequest(o)
			if err != nil {
				return
			}
			if _, err := c.Write([]byte(answers[r.URL.Path])); err != nil {
				return
			}
		}
	})
}

// What a host says behind its status is the host's, and only of its own answer.
func TestPhrase(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	const ok = "Content-Length: 2\r\n\r\nok"
	l.raw("ok.test", map[string]string{
		"/held":    "HTTP/1.1 403 held back: a known threat\r\n" + ok,
		"/usual":   "HTTP/1.1 200 OK\r\n" + ok,
		"/unknown": "HTTP/1.1 299 Odd\r\n" + ok,
		"/none":    "HTTP/1.1 200 \r\n" + ok,
		"/early":   "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 404 gone for good\r\n" + ok,
		"/control": "HTTP/1.1 200 a\x01b\r\n" + ok,
		"/long":    "HTTP/1.1 200 " + strings.Repeat("x", 2000) + "\r\n" + ok,
		"/big":     "HTTP/1.1 200 plenty\r\nX-Big: " + strings.Repeat("x", 9000) + "\r\n" + ok,
	})
	c := l.client()
	for _, want := range [][2]string{
		{"/held", "403 held back: a known threat"},
		{"/usual", "200 OK"},
		{"/unknown", "299 Odd"},
		{"/none", "200 "},
		{"/early", "404 gone for good"},
		{"/control", "200 OK"},
		{"/long", "200 OK"},
		{"/big", "200 plenty"},
		{"/usual", "200 OK"},
	} {
		c.say("GET http://ok.test%s HTTP/1.1\r\nHost: ok.test\r\n\r\n", want[0])
		resp, body := c.answer()
		for resp.StatusCode == http.StatusEarlyHints {
			resp, body = c.answer()
		}
		if resp.Status != want[1] || body != "ok" {
			t.Errorf("%s: %q %q, want %q", want[0], resp.Status, body, want[1])
		}
	}
	// HTTP/1.0 has them too.
	resp, _ := l.ask("GET http://ok.test/held HTTP/1.0\r\n\r\n")
	if resp.Proto != "HTTP/1.0" || resp.Status != "403 held back: a known threat" {
		t.Errorf("%s %s", resp.Proto, resp.Status)
	}
}

// What the server would refuse in words of its own is refused in the proxy's,
// and told.
func TestOwnWords(t *testing.T) {
	l := newLab(t, hosts("ok.test"), with(func(_ *judge.Rules, c *proxy.Config) {
		c.Local = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("local")) })
	}))
	l.site("ok.test", 80, headers)
	for head, want := range map[string]string{
		"GET /%zz HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n":                       "400 a path that cannot be read",
		"GET /a%2 HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n":                       "400 a path that cannot be read",
		"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nExpect: tea\r\n\r\n": "417 an Expect other than 100-continue",
		"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nExpect:\r\n\r\n":     "200 GET / ok.test",
		"GET /a%2f HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n":                      "200 local",
	} {
		resp, body := l.ask(head)
		status, words, _ := strings.Cut(want, " ")
		if !strings.HasPrefix(resp.Status, status) || !strings.Contains(body, words) {
			t.Errorf("%q: %s %q, want %q", head, resp.Status, body, want)
		}
		if refused := status != "200"; refused != (resp.Header.Get("Lnk-Refused") == "malformed") {
			t.Errorf("%q: %v", head, resp.Header)
		}
	}
}

// Some programs look a name up and then ask the proxy for the address that they
// found: curl by --socks5, Java, ncat. The address stands for the name.
func TestCalledByItsAddress(t *testing.T) {
	stands := map[string]string{"198.18.0.2": "ok.test", "fde2:56fc:2074::c612:2": "ok.test", "198.18.0.3": "evil.test"}
	l := newLab(t, hosts("ok.test", "ok.test:7"), with(func(_ *judge.Rules, c *proxy.Config) {
		c.Name = func(a netip.Addr) (string, bool) { name, ok := stands[a.String()]; return name, ok }
	}))
	l.origin("ok.test", 7, echo)
	l.site("ok.test", 80, headers)
	for _, host := range []string{"198.18.0.2", "[fde2:56fc:2074::c612:2]"} {
		c := l.connect(host + ":7").say("hi")
		if got := c.read(2); got != "hi" {
			t.Errorf("%s: %q", host, got)
		}
		resp, body := l.ask("GET http://" + host + "/x HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
		if first, _, _ := strings.Cut(body, "\n"); resp.StatusCode != 200 || first != "GET /x ok.test" {
			t.Errorf("%s: %d %q", host, resp.StatusCode, body)
		}
		// In a tunnel, where a Host is held to the name.
		in := l.connect(host+":80").say("GET /y HTTP/1.1\r\nHost: %s\r\n\r\n", host)
		if resp, body := in.answer(); resp.StatusCode != 200 || !strings.HasPrefix(body, "GET /y ok.test\n") {
			t.Errorf("%s: in a tunnel %d %q", host, resp.StatusCode, body)
		}
	}
	if code, _ := l.socks(socksCall(1, "\xc6\x12\x00\x02", 7)); code != 0 {
		t.Errorf("SOCKS: reply %d", code)
	}
	if code, _ := l.socks(socksCall(3, "198.18.0.2", 7)); code != 0 {
		t.Errorf("SOCKS, written out: reply %d", code)
	}
	// One that stands for a name that no rule opens, and one that stands for none.
	for _, host := range []string{"198.18.0.3", "198.18.0.4"} {
		resp, _ := l.client().say("CONNECT %s:7 HTTP/1.1\r\nHost: %s:7\r\n\r\n", host, host).answer("CONNECT")
		if resp.StatusCode != 403 {
			t.Errorf("%s: %d", host, resp.StatusCode)
		}
	}
}
