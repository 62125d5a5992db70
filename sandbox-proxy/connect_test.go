package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// echo sends back what it gets, and a last word after the end.
func echo(c *net.TCPConn) {
	io.Copy(c, c)
	io.WriteString(c, "BYE")
}

func TestConnect(t *testing.T) {
	l := newLab(t, hosts("ok.test:7"))
	l.origin("ok.test", 7, echo)
	for _, target := range []string{"ok.test:7", "OK.test:7", "ok.test.:7"} {
		c := l.connect(target)
		c.say("hello")
		c.CloseWrite()
		if got, err := c.rest(); got != "helloBYE" || err != nil {
			t.Errorf("%s: %q %v", target, got, err)
		}
	}
	for _, d := range l.dials() {
		if d != "192.0.2.1:7" {
			t.Errorf("dialled %s", d)
		}
	}
}

// Every target that is not exactly host:port is refused, and the connection
// serves no more; the proxy does.
func TestConnectTargets(t *testing.T) {
	l := newLab(t, hosts("ok.test", "ok.test:7"))
	l.origin("ok.test", 7, echo)
	for _, target := range []string{
		"[ok.test]:7", "ok.test:7@evil.test:7", "evil.test@ok.test:7@evil.test:7", "ok.test", "ok.test:", ":7", ":443", "ok.test:07", "ok.test:+7", "ok.test:99999", "ok.test:-1",
		"ok.test:7:22", "ok.test:7/x", "ok.test:7?q", "ok.test:7#f", "http://ok.test:7", "//ok.test:7", "/x", "*", "ok.test%00.evil.test:7", "ok.test/../evil.test:7",
		"[::1%25lo]:7", "[::1", "::1:7", "127.1:7", "0177.0.0.1:7", "2130706433:7", "0x7f.1:7", "1:7", "0:7", "ok.test\t:7", "ok..test:7", ".ok.test:7", "ok.test:７", "ｏk.test:7", "ok。test:7",
		"u:p@ok.test:7", "ok_test:7 x", "127.0.0.¹:7",
	} {
		c := l.client().say("CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target)
		if resp, body := c.answer(); resp.StatusCode != 400 && resp.StatusCode != 505 {
			t.Errorf("%q: %d %s", target, resp.StatusCode, body)
		}
		if rest, err := c.rest(); rest != "" || err != nil {
			t.Errorf("%q: then %q %v", target, rest, err)
		}
	}
	if d := l.dials(); len(d) > 0 {
		t.Errorf("dialled %q", d)
	}
	l.connect("ok.test:7")
}

func TestConnectHead(t *testing.T) {
	l := newLab(t, hosts("ok.test:7"))
	l.origin("ok.test", 7, echo)
	for raw, want := range map[string]int{
		"CONNECT ok.test:7 HTTP/1.1\r\nHost: evil.test:7\r\n\r\n":                                         400,
		"CONNECT ok.test:7 HTTP/1.1\r\nHost: evil.test\r\n\r\n":                                           400,
		"CONNECT ok.test:7 HTTP/1.1\r\nHost: ok.test:8\r\n\r\n":                                           400,
		"CONNECT ok.test:7 HTTP/1.1\r\nHost: 127.0.0.1.evil.test\r\n\r\n":                                 400,
		"CONNECT ok.test:7 HTTP/1.1\r\nHost: 10.0.0.1:19190\r\n\r\n":                                      400,
		"CONNECT ok.test:7 HTTP/1.1\r\nHost: 127.0.0.1:19190\r\n\r\n":                                     200,
		"CONNECT ok.test:7 HTTP/1.1\r\nHost: [::1]:19190\r\n\r\n":                                         200,
		"CONNECT ok.test:7 HTTP/1.1\r\nHost: localhost\r\n\r\n":                                           200,
		"CONNECT evil.test:7 HTTP/1.1\r\nHost: 127.0.0.1:19190\r\n\r\n":                                   403,
		"CONNECT ok.test:7 HTTP/1.1\r\nHost: ok.test:7\r\nHost: ok.test:7\r\n\r\n":                        400,
		"CONNECT ok.test:7 HTTP/1.1\r\nHost: ok.test:7\r\nContent-Length: 3\r\n\r\nabc":                   400,
		"CONNECT ok.test:7 HTTP/1.1\r\nHost: ok.test:7\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n":    400,
		"CONNECT ok.test:7 HTTP/1.1\nHost: ok.test:7\n\n":                                                 400,
		"CONNECT ok.test:7 HTTP/1.1\r\nHost: ok.test:7\r\n folded\r\n\r\n":                                400,
		"CONNECT ok.test:7 HTTP/1.1\r\nHost : ok.test:7\r\n\r\n":                                          400,
		"CONNECT ok.test:7 HTTP/1.1\r\nX: a\x00b\r\n\r\n":                                                 400,
		"CONNECT  ok.test:7 HTTP/1.1\r\n\r\n":                                                             400,
		"\r\nCONNECT ok.test:7 HTTP/1.1\r\n\r\n":                                                          200,
		"\r\n\r\nCONNECT ok.test:7 HTTP/1.1\r\n\r\n":                                                      400,
		"\nCONNECT ok.test:7 HTTP/1.1\r\n\r\n":                                                            0,
		"\r CONNECT ok.test:7 HTTP/1.1\r\n\r\n":                                                           400,
		"CONNECT ok.test:7 HTTP/1.2\r\n\r\n":                                                              505,
		"CONNECT ok.test:7 HTTP/2.0\r\n\r\n":                                                              505,
		"CONNECT ok.test:7\r\n\r\n":                                                                       400,
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n":                                                                505,
		"CONNECT ok.test:7 HTTP/1.1\r\nX: " + strings.Repeat("a", 70<<10) + "\r\n\r\n":                    431,
		"CONNECT ok.test:7 HTTP/1.1\r\nHost: ok.test:7\r\nContent-Length: 0\r\n\r\n":                      200,
		"CONNECT ok.test:7 HTTP/1.1\r\nHost: ok.test\r\n\r\n":                                             200,
		"CONNECT ok.test:7 HTTP/1.1\r\n\r\n":                                                              200,
		"CONNECT ok.test:7 HTTP/1.0\r\n\r\n":                                                              200,
		"CONNECT ok.test:7 HTTP/1.1\r\nHost: ok.test:7\r\nX: " + strings.Repeat("a", 60<<10) + "\r\n\r\n": 200,
	} {
		c := l.client().say("%s", raw)
		if want == 0 {
			if rest, _ := c.rest(); rest != "" {
				t.Errorf("%.80q: %q", raw, rest)
			}
			continue
		}
		resp, body := c.answer("CONNECT")
		if resp.StatusCode != want {
			t.Errorf("%.80q: %d %s, want %d", raw, resp.StatusCode, body, want)
		}
		if want == 200 && resp.Proto != "HTTP/1.1" {
			t.Errorf("%.80q: answered in %s", raw, resp.Proto)
		}
	}
}

func TestRefusal(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.name("ok.test", "10.1.2.3")
	// What the program says on must not reset the answer away.
	c := l.client().say("CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\nUser-Agent: x\r\n\r\n%s", strings.Repeat("early bytes of a TLS client", 4<<10))
	resp, body := c.answer("CONNECT")
	if resp.StatusCode != 403 || resp.Header.Get("Lnk-Refused") != "host" || resp.ContentLength != int64(len(body)) {
		t.Errorf("%d %v %q", resp.StatusCode, resp.Header, body)
	}
	want := "lnk sandbox web: refused evil.test:443: no rule names this host; to open it: hosts = [\"evil.test\"] or --internet-host evil.test\n"
	if body != want {
		t.Errorf("told %q, want %q", body, want)
	}
	if rest, err := c.rest(); rest != "" || err != nil {
		t.Errorf("then %q %v", rest, err)
	}
	resp, body = l.ask("CONNECT evil.test:22 HTTP/1.1\r\nAccept: application/json, */*\r\n\r\n")
	var said struct {
		Sandbox, Host, Reason, Detail string
		Port                          int
		Open                          struct{ Member, Flag string }
	}
	if err := json.Unmarshal([]byte(body), &said); err != nil || resp.Header.Get("Content-Type") != "application/json" || said.Sandbox != "web" || said.Host != "evil.test" || said.Port != 22 || said.Reason != "host" || said.Open.Member != `tcp = ["evil.test:22"]` {
		t.Errorf("%v %q", err, body)
	}
	for _, accept := range []string{"*/*", "text/html, application/json;q=0", "application/jsonx"} {
		if resp, _ := l.ask("CONNECT evil.test:22 HTTP/1.1\r\nAccept: " + accept + "\r\n\r\n"); !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") {
			t.Errorf("Accept %s: %s", accept, resp.Header.Get("Content-Type"))
		}
	}
	for target, reason := range map[string]string{"ok.test:22": "port", "ok.test:443": "address", "127.0.0.1:443": "address", "169.254.169.254:443": "address"} {
		if resp, body := l.ask("CONNECT " + target + " HTTP/1.1\r\n\r\n"); resp.StatusCode != 403 || resp.Header.Get("Lnk-Refused") != reason || strings.Contains(body, "10.1.2.3") {
			t.Errorf("%s: %d %v %q", target, resp.StatusCode, resp.Header, body)
		}
	}
	resp, body = l.ask("CONNECT <script>\x01\"'.test:443 HTTP/1.1\r\n\r\n")
	if resp.StatusCode != 400 || strings.ContainsAny(body, "<>\x01") {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
	resp, body = l.ask("CONNECT <script>\"'.test:443 HTTP/1.1\r\n\r\n")
	if resp.StatusCode != 400 || strings.ContainsAny(body, "<>'") || !strings.Contains(body, `\u003cscript\u003e`) {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
	if d := l.dials(); len(d) > 0 {
		t.Errorf("dialled %q", d)
	}
	for _, n := range l.looked {
		if n == "evil.test" {
			t.Error("a refused name was looked up")
		}
	}
}

// Refusals are told once a host and port.
func TestRefusedIsTold(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	for range 3 {
		l.ask("CONNECT evil.test:443 HTTP/1.1\r\n\r\n")
		l.ask("GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n")
	}
	if len(l.refused) != 2 || l.refused[0].Target() != "evil.test:443" || l.refused[1].Target() != "evil.test:80" || l.refused[1].Open.Flag != "--internet-host evil.test" {
		t.Errorf("%+v", l.refused)
	}
	if len(l.ended) != 6 || l.ended[0].Allowed || l.ended[0].Reason != judge.Host {
		t.Errorf("%+v", l.ended)
	}
}

// What went wrong on the way is said in the same words, whatever it was.
func TestDialFailures(t *testing.T) {
	l := newLab(t, hosts("closed.test:7", "gone.test:7", "none.test:7"))
	l.name("closed.test", "192.0.2.77")
	l.name("gone.test", "192.0.2.78", "192.0.2.79")
	var bodies []string
	for _, h := range []string{"closed.test:7", "gone.test:7"} {
		resp, body := l.ask("CONNECT " + h + " HTTP/1.1\r\n\r\n")
		if resp.StatusCode != 502 {
			t.Errorf("%s: %d", h, resp.StatusCode)
		}
		bodies = append(bodies, body)
	}
	if bodies[0] != bodies[1] || strings.Contains(bodies[0], "refused") || strings.Contains(bodies[0], "192.") {
		t.Errorf("%q", bodies)
	}
	if resp, body := l.ask("CONNECT none.test:7 HTTP/1.1\r\n\r\n"); resp.StatusCode != 502 || !contains(body, "no address is known") {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
}

// The first address has no way to it: the next is tried.
func TestNextAddress(t *testing.T) {
	l := newLab(t, hosts("ok.test:7"))
	l.origin("ok.test", 7, echo)
	l.name("ok.test", "2001:db8::1", "192.0.2.1")
	c := l.connect("ok.test:7").say("x")
	if c.read(1) != "x" {
		t.Error("no echo")
	}
}

// A connection that turns out to be to this machine, whatever its address was
// taken for.
func TestOwnPeer(t *testing.T) {
	far := make(chan net.Conn, 1)
	l := newLab(t, hosts("ok.test:7"), with(func(_ *judge.Rules, c *proxy.Config) {
		c.Dial = func(context.Context, netip.AddrPort) (net.Conn, error) {
			a, b := net.Pipe()
			far <- b
			return &onThisMachine{a}, nil
		}
	}))
	l.name("ok.test", "192.0.2.50")
	if resp, body := l.ask("CONNECT ok.test:7 HTTP/1.1\r\n\r\n"); resp.StatusCode != 502 {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
	if n, err := (<-far).Read(make([]byte, 1)); n > 0 || err != io.EOF {
		t.Errorf("the connection is not closed: %d %v", n, err)
	}
}

type onThisMachine struct{ net.Conn }

func (*onThisMachine) LocalAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 50), Port: 4000}
}
func (*onThisMachine) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 50), Port: 7}
}

func TestEarlyBytes(t *testing.T) {
	l := newLab(t, hosts("ok.test:9"))
	l.origin("ok.test", 9, func(c *net.TCPConn) {
		b := make([]byte, 5)
		if _, err := io.ReadFull(c, b); err == nil {
			c.Write(b)
		}
	})
	tunnels := 3000
	if testing.Short() {
		tunnels = 200
	}
	for i := range tunnels {
		c := l.client()
		if i%2 == 0 {
			c.say("CONNECT ok.test:9 HTTP/1.1\r\nHost: ok.test:9\r\n\r\n\x16\x03\x01\x02\x00")
			c.answer("CONNECT")
		} else {
			c.say("CONNECT ok.test:9 HTTP/1.1\r\nHost: ok.test:9\r\n\r\n")
			c.answer("CONNECT")
			c.say("\x16\x03\x01").say("\x02\x00")
		}
		if got := c.read(5); got != "\x16\x03\x01\x02\x00" {
			t.Fatalf("tunnel %d: %q", i, got)
		}
		c.Close()
	}
}

// A large early part, more than a head may be.
func TestEarlyBulk(t *testing.T) {
	l := newLab(t, hosts("ok.test:9"))
	sent := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
	got := make(chan []byte, 1)
	l.origin("ok.test", 9, func(c *net.TCPConn) {
		b, _ := io.ReadAll(c)
		got <- b
	})
	c := l.client().say("CONNECT ok.test:9 HTTP/1.1\r\nHost: ok.test:9\r\n\r\n%s", sent)
	c.answer("CONNECT")
	c.CloseWrite()
	if b := <-got; !bytes.Equal(b, sent) {
		t.Errorf("%d bytes of %d arrived", len(b), len(sent))
	}
}

// A CONNECT behind other requests on its connection is a CONNECT all the same.
func TestConnectAfterGet(t *testing.T) {
	l := newLab(t, hosts("ok.test", "ok.test:9"))
	l.site("ok.test", 80, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "page") })
	l.origin("ok.test", 9, echo)
	c := l.client()
	c.say("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n")
	if resp, body := c.answer(); resp.StatusCode != 200 || body != "page" {
		t.Fatalf("%d %q", resp.StatusCode, body)
	}
	early := "GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n" // not the proxy's to read
	c.say("CONNECT ok.test:9 HTTP/1.1\r\nHost: ok.test:9\r\n\r\n%s", early)
	if resp, body := c.answer("CONNECT"); resp.StatusCode != 200 {
		t.Fatalf("%d %q", resp.StatusCode, body)
	}
	c.CloseWrite()
	if got, err := c.rest(); got != early+"BYE" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	c = l.client()
	c.say("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\nCONNECT evil.test:9 HTTP/1.1\r\nHost: evil.test:9\r\n\r\n")
	c.answer()
	if resp, _ := c.answer("CONNECT"); resp.StatusCode != 403 {
		t.Errorf("%d", resp.StatusCode)
	}
}
