package proxy_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// A far is an upstream proxy that is also every host behind it.
type far struct {
	ln net.Listener

	mu    sync.Mutex
	heads []string
}

func (f *far) saw() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.heads, "\n")
}

func newFar(t *testing.T, user string) *far {
	f := &far{ln: listen(t)}
	serveConns(t, f.ln, func(c *net.TCPConn) {
		r := bufio.NewReader(c)
		for {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			body, _ := io.ReadAll(req.Body)
			f.mu.Lock()
			f.heads = append(f.heads, fmt.Sprintf("%s %s host=%s %v", req.Method, req.RequestURI, req.Host, req.Header))
			f.mu.Unlock()
			auth := "Basic " + base64.StdEncoding.EncodeToString([]byte(user))
			switch {
			case user != "" && !strings.HasPrefix(req.RequestURI, "/") && req.Header.Get("Proxy-Authorization") != auth:
				io.WriteString(c, "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=far\r\nContent-Length: 6\r\n\r\nsecret")
			case strings.HasPrefix(req.RequestURI, "no.test"):
				io.WriteString(c, "HTTP/1.1 403 Forbidden\r\nContent-Length: 7\r\n\r\nrefused")
			case strings.HasPrefix(req.RequestURI, "cut.test"):
				return
			case req.Method == "CONNECT" && strings.HasSuffix(req.RequestURI, ":80"):
				io.WriteString(c, "HTTP/1.0 200 OK\r\n\r\n")
			case req.Method == "CONNECT":
				io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n220 hi\r\n")
				io.Copy(c, r)
				return
			default:
				fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nLnk-Refused: host\r\n\r\n%s", len(body)+4, "far:"+string(body))
			}
		}
	})
	return f
}

func through(scheme, user string, f *far) option {
	return func(l *lab, _ *judge.Rules, c *proxy.Config) {
		at := f.ln.Addr().String()
		if user != "" {
			at = user + "@" + at
		}
		var err error
		if c.Upstream, err = proxy.ParseUpstream(scheme + "://" + at); err != nil {
			l.t.Fatal(err)
		}
	}
}

func TestUpstream(t *testing.T) {
	f := newFar(t, "user:pass word")
	l := newLab(t, through("http", "user:pass%20word", f), hosts("ok.test", "ok.test:7", "far.test", "no.test:7", "cut.test:7", "in.test", "*.wild.test:9"))
	l.name("ok.test", "192.0.2.1")
	l.name("in.test", "10.1.1.1")
	c := l.connect("OK.test.:7")
	if got := c.read(8); got != "220 hi\r\n" {
		t.Errorf("the far side's first words: %q", got)
	}
	c.say("ping")
	c.CloseWrite()
	if got, err := c.rest(); got != "ping" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	// No name server here knows the name: the upstream may.
	l.connect("a.wild.test:9")
	for host, want := range map[string]int{"evil.test": 403, "in.test": 403, "169.254.169.254": 403, "127.0.0.1": 403} {
		for _, raw := range []string{"CONNECT " + host + ":80 HTTP/1.1\r\n\r\n", "GET http://" + host + "/ HTTP/1.1\r\nHost: " + host + "\r\n\r\n"} {
			if resp, body := l.ask(raw); resp.StatusCode != want {
				t.Errorf("%.30q: %d %q", raw, resp.StatusCode, body)
			}
		}
	}
	for host, words := range map[string]string{"no.test": "the upstream proxy refused it (403)", "cut.test": "no answer"} {
		resp, body := l.ask("CONNECT " + host + ":7 HTTP/1.1\r\n\r\n")
		if resp.StatusCode != 502 || !contains(body, words) || resp.Header.Get("Lnk-Refused") != "" {
			t.Errorf("%s: %d %v %q", host, resp.StatusCode, resp.Header, body)
		}
	}
	resp, body := l.ask("POST http://far.test/x?y HTTP/1.1\r\nHost: far.test\r\nProxy-Authorization: Basic aW5zaWRl\r\nContent-Length: 2\r\n\r\nhi")
	if resp.StatusCode != 200 || body != "far:hi" || resp.Header.Get("Lnk-Refused") != "" {
		t.Errorf("%d %v %q", resp.StatusCode, resp.Header, body)
	}
	c = l.connect("ok.test:80")
	if resp, body := c.say("GET /inner HTTP/1.1\r\nHost: ok.test\r\n\r\n").answer(); resp.StatusCode != 200 || body != "far:" {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
	saw := f.saw()
	if !contains(saw, "CONNECT ok.test:7 host=ok.test:7", "CONNECT a.wild.test:9 ", "POST http://far.test/x?y host=far.test", "GET /inner host=ok.test map[]") || strings.Contains(saw, "aW5zaWRl") || strings.Contains(saw, "evil") || strings.Contains(saw, "in.test") || strings.Contains(saw, "192.0.2") {
		t.Errorf("the upstream saw\n%s", saw)
	}
	for _, line := range strings.Split(saw, "\n") {
		if strings.Contains(line, "GET /inner") && strings.Contains(line, "Proxy-Authorization") {
			t.Errorf("the host behind the upstream saw %s", line)
		}
	}
}

// The upstream's own no is told as that, and not as the proxy's.
func TestUpstreamAuth(t *testing.T) {
	f := newFar(t, "user:right")
	l := newLab(t, through("http", "user:wrong", f), hosts("ok.test", "ok.test:7"))
	for _, raw := range []string{"CONNECT ok.test:7 HTTP/1.1\r\n\r\n", "GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n"} {
		resp, body := l.ask(raw)
		if resp.StatusCode != 502 || !contains(body, "407", "upstream") || strings.Contains(body, "secret") || strings.Contains(body, "wrong") || resp.Header.Get("Proxy-Authenticate") != "" {
			t.Errorf("%.20q: %d %v %q", raw, resp.StatusCode, resp.Header, body)
		}
	}
}

// A port of this machine's loopback is never the upstream's.
func TestUpstreamPorts(t *testing.T) {
	f := newFar(t, "")
	here := listen(t)
	serveConns(t, here, echo)
	port := here.Addr().(*net.TCPAddr).AddrPort().Port()
	l := newLab(t, through("http", "", f), with(func(r *judge.Rules, _ *proxy.Config) { r.Ports = []uint16{port} }))
	c := l.connect(fmt.Sprintf("localhost:%d", port)).say("x")
	c.CloseWrite()
	if got, err := c.rest(); got != "xBYE" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	if f.saw() != "" {
		t.Errorf("the upstream saw %s", f.saw())
	}
}

// Websockets go through a tunnel of the upstream's.
func TestUpstreamWebsocket(t *testing.T) {
	up := listen(t)
	serveConns(t, up, func(c *net.TCPConn) {
		r := bufio.NewReader(c)
		req, err := http.ReadRequest(r)
		if err != nil || req.Method != "CONNECT" || req.RequestURI != "ok.test:80" {
			return
		}
		io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		if req, err = http.ReadRequest(r); err == nil && req.Header.Get("Upgrade") == "websocket" {
			io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
			io.Copy(c, r)
		}
	})
	l := newLab(t, through("http", "", &far{ln: up}), hosts("ok.test"))
	c := l.client().say("GET http://ok.test/ws HTTP/1.1\r\nHost: ok.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nframe")
	if resp, _ := http.ReadResponse(c.r, nil); resp == nil || resp.StatusCode != 101 {
		t.Fatalf("%v", resp)
	}
	if got := c.read(5); got != "frame" {
		t.Errorf("%q", got)
	}
}

// Chained: one of our proxies is the other's upstream, by HTTP and by SOCKS5.
func TestChain(t *testing.T) {
	for _, scheme := range []string{"http", "socks5"} {
		outer := newLab(t, hosts("ok.test", "ok.test:7"), with(func(_ *judge.Rules, c *proxy.Config) { c.Secret = "sesame" }))
		outer.origin("ok.test", 7, echo)
		outer.site("ok.test", 80, headers)
		inner := newLab(t, hosts("ok.test", "ok.test:7", "evil.test:7"), with(func(_ *judge.Rules, c *proxy.Config) {
			c.Upstream, _ = proxy.ParseUpstream(scheme + "://any:sesame@" + outer.at)
		}))
		c := inner.connect("ok.test:7").say("x")
		c.CloseWrite()
		if got, err := c.rest(); got != "xBYE" || err != nil {
			t.Errorf("%s: %q %v", scheme, got, err)
		}
		for range 2 {
			if resp, body := inner.ask("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n"); resp.StatusCode != 200 || !strings.HasPrefix(body, "GET / ok.test\nbody 0") {
				t.Errorf("%s: %d %q", scheme, resp.StatusCode, body)
			}
		}
		if resp, body := inner.ask("CONNECT evil.test:7 HTTP/1.1\r\n\r\n"); resp.StatusCode != 502 || !contains(body, "upstream") || resp.Header.Get("Lnk-Refused") != "" {
			t.Errorf("%s: %d %v %q", scheme, resp.StatusCode, resp.Header, body)
		}
	}
}

// A proxy that is its own upstream says so and does not loop.
func TestUpstreamIsSelf(t *testing.T) {
	ln := listen(t)
	up, err := proxy.ParseUpstream("http://" + ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	l := newLab(t, hosts("ok.test:7"), with(func(_ *judge.Rules, c *proxy.Config) { c.Upstream = up }))
	served := make(chan error, 1)
	go func() { served <- l.proxy.Serve(ln) }()
	t.Cleanup(func() { l.proxy.Close(); <-served })
	eventually(t, "served", func() bool {
		resp, body := l.ask("CONNECT ok.test:7 HTTP/1.1\r\n\r\n")
		return resp.StatusCode == 502 && contains(body, "this proxy")
	})
}

func TestParseUpstream(t *testing.T) {
	for in, want := range map[string]string{
		"": "direct", "direct": "direct", "http://127.0.0.1:3128": "http://127.0.0.1:3128", "http://proxy.corp:3128/": "http://proxy.corp:3128",
		"https://u:p@proxy.corp:443": "https://u:xxxxx@proxy.corp:443", "socks5://[::1]:1080": "socks5://[::1]:1080",
	} {
		u, err := proxy.ParseUpstream(in)
		if err != nil || u.String() != want || strings.Contains(fmt.Sprintf("%v %+v %#v", u, u, u), ":p@") {
			t.Errorf("%s: %v %v", in, u, err)
		}
	}
	for _, in := range []string{"system", "proxy.corp:3128", "http://proxy.corp", "http://:3128", "http://proxy.corp:0", "http://proxy.corp:3128/x", "http://proxy.corp:3128?x", "ftp://proxy.corp:21", "http://u:hunter2@proxy.corp", "http://u:hunter2@proxy.corp:99999", "http://u:hunter2@pro xy:1", "socks5://u:hunter2" + strings.Repeat("x", 300) + "@h:1", "://"} {
		if u, err := proxy.ParseUpstream(in); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v %v", in, u, err)
		}
	}
}

// An upstream that takes the connection and never answers does not hold the
// proxy: closing it ends the call.
func TestUpstreamSilent(t *testing.T) {
	up := listen(t)
	asked := make(chan bool, 8)
	serveConns(t, up, func(c *net.TCPConn) {
		c.Read(make([]byte, 1))
		asked <- true
		io.Copy(io.Discard, c)
	})
	l := newLab(t, through("http", "", &far{ln: up}), hosts("ok.test", "ok.test:7"))
	tunnel := l.client().say("CONNECT ok.test:7 HTTP/1.1\r\n\r\n")
	page := l.client().say("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n")
	socket := l.client().say("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n")
	for range 3 {
		<-asked
	}
	l.proxy.Close()
	for _, c := range []*client{tunnel, page, socket} {
		if got, _ := c.rest(); strings.HasPrefix(got, "HTTP/1.1 2") {
			t.Errorf("%q", got)
		}
	}
}
