package proxy_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

func TestPerMinute(t *testing.T) {
	l := newLab(t, hosts("ok.test", "ok.test:7"), with(func(_ *judge.Rules, c *proxy.Config) { c.PerMinute = 5 }))
	l.site("ok.test", 80, headers)
	l.origin("ok.test", 7, echo)
	get := "GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n"
	for i := range 5 {
		l.ask("CONNECT evil.test:7 HTTP/1.1\r\n\r\n") // refused: not a call
		if resp, _ := l.ask(get); resp.StatusCode != 200 {
			t.Fatalf("call %d: %d", i, resp.StatusCode)
		}
	}
	for _, raw := range []string{get, "CONNECT ok.test:7 HTTP/1.1\r\n\r\n"} {
		resp, body := l.ask(raw)
		after, err := strconv.Atoi(resp.Header.Get("Retry-After"))
		if resp.StatusCode != 429 || resp.Header.Get("Lnk-Refused") != "rate" || err != nil || after < 1 || after > 12 || !contains(body, "per_minute") {
			t.Errorf("%d %v %q", resp.StatusCode, resp.Header, body)
		}
	}
	if code, _ := l.socks(socksCall(3, "ok.test", 7)); code != 1 {
		t.Errorf("SOCKS reply %d", code)
	}
	if c := l.carry(map[string]string{"198.18.0.1": "ok.test"})("198.18.0.1:7"); !c.wasReset() {
		t.Error("a carried connection is not reset")
	}
	if resp, _ := l.ask("CONNECT evil.test:7 HTTP/1.1\r\n\r\n"); resp.StatusCode != 403 {
		t.Errorf("a refused host: %d", resp.StatusCode)
	}
}

func TestSecret(t *testing.T) {
	l := newLab(t, hosts("ok.test", "ok.test:7"), with(func(_ *judge.Rules, c *proxy.Config) { c.Secret = "sesame" }))
	l.site("ok.test", 80, headers)
	l.origin("ok.test", 7, echo)
	basic := func(s string) string {
		return "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(s)) + "\r\n"
	}
	for auth, want := range map[string]int{
		"": 407, basic("lnk:wrong"): 407, basic("sesame"): 407, basic("lnk:"): 407, basic("lnk:sesame") + basic("lnk:sesame"): 407, "Proxy-Authorization: Bearer sesame\r\n": 407, "Proxy-Authorization: Basic !\r\n": 407,
		"Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("lnk:sesame")) + "\r\n": 407,
		basic("lnk:sesame"): 200, basic(":sesame"): 200, strings.Replace(basic("any:sesame"), "Basic", "basic", 1): 200,
	} {
		for _, raw := range []string{"CONNECT ok.test:7 HTTP/1.1\r\n" + auth + "\r\n", "GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n" + auth + "\r\n"} {
			c := l.client().say("%s", raw)
			resp, body := c.answer(strings.Fields(raw)[0])
			if resp.StatusCode != want || want == 407 && !strings.HasPrefix(resp.Header.Get("Proxy-Authenticate"), "Basic ") || strings.Contains(body, "Proxy-Authorization") {
				t.Errorf("%.80q: %d %v %q", raw, resp.StatusCode, resp.Header, body)
			}
		}
	}
}

// The proxy never calls itself, also where the rules name its port.
func TestSelf(t *testing.T) {
	ln := listen(t)
	port := ln.Addr().(*net.TCPAddr).AddrPort().Port()
	l := newLab(t, with(func(r *judge.Rules, _ *proxy.Config) { r.Ports = []uint16{port} }))
	served := make(chan error, 2)
	go func() { served <- l.proxy.Serve(ln) }()
	t.Cleanup(func() { l.proxy.Close(); <-served })
	at := fmt.Sprintf("127.0.0.1:%d", port)
	dialClient(t, at).say("GET / HTTP/1.1\r\nHost: x\r\n\r\n").answer("GET") // it is served by then
	if resp, _ := l.ask("CONNECT " + at + " HTTP/1.1\r\n\r\n"); resp.StatusCode != 403 || resp.Header.Get("Lnk-Refused") != "self" {
		t.Errorf("CONNECT: %d %v", resp.StatusCode, resp.Header)
	}
	for _, host := range []string{at, fmt.Sprintf("localhost:%d", port)} {
		if resp, _ := l.ask("GET http://" + host + "/ HTTP/1.1\r\nHost: " + host + "\r\n\r\n"); resp.StatusCode != 403 || resp.Header.Get("Lnk-Refused") != "self" {
			t.Errorf("GET %s: %d %v", host, resp.StatusCode, resp.Header)
		}
	}
	if resp, _ := l.ask("GET http://" + l.at + "/ HTTP/1.1\r\nHost: " + l.at + "\r\n\r\n"); resp.StatusCode != 403 {
		t.Errorf("a listener that no rule names: %d", resp.StatusCode)
	}
	if err := l.proxy.ServePort(listen(t), port+1); err == nil {
		t.Error("a port that no rule names is served")
	}
}

func TestServePort(t *testing.T) {
	here := listen(t)
	serveConns(t, here, echo)
	port := here.Addr().(*net.TCPAddr).AddrPort().Port()
	l := newLab(t, with(func(r *judge.Rules, _ *proxy.Config) { r.Ports = []uint16{port, 1} }))
	in := listen(t)
	served := make(chan error, 1)
	go func() { served <- l.proxy.ServePort(in, port) }()
	c := dialClient(t, in.Addr().String()).say("ping")
	c.CloseWrite()
	if got, err := c.rest(); got != "pingBYE" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	closed := listen(t)
	go l.proxy.ServePort(closed, 1)
	if c, err := net.Dial("tcp", closed.Addr().String()); err == nil { // else it was reset before Dial saw it open
		c.SetDeadline(time.Now().Add(patience))
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("a port where nobody listens: %v", err)
		}
		c.Close()
	}
	l.proxy.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// More calls than a sandbox may have are told so at once; the others go on.
func TestTooManyCalls(t *testing.T) {
	l := newLab(t, hosts("ok.test:7"))
	l.origin("ok.test", 7, echo)
	var open []*client
	for i := range 512 {
		c := l.client().say("CONNECT ok.test:7 HTTP/1.1\r\n\r\n")
		if resp, _ := c.answer("CONNECT"); resp.StatusCode != 200 {
			t.Fatalf("tunnel %d: %d", i, resp.StatusCode)
		}
		open = append(open, c)
	}
	resp, _ := l.ask("CONNECT ok.test:7 HTTP/1.1\r\n\r\n")
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" || resp.Header.Get("Lnk-Refused") != "busy" {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
	if code, _ := l.socks(socksCall(3, "ok.test", 7)); code != 1 {
		t.Errorf("SOCKS reply %d", code)
	}
	if got := open[0].say("x").read(1); got != "x" {
		t.Error("an open tunnel stands still")
	}
	open[1].Close()
	eventually(t, "a place is free again", func() bool {
		resp, _ := l.client().say("CONNECT ok.test:7 HTTP/1.1\r\n\r\n").answer("CONNECT")
		return resp.StatusCode == 200
	})
}

// A name server that answers late is not asked for more names at once than calls
// may be open, however many connections ask.
func TestTooManyNames(t *testing.T) {
	late := make(chan struct{})
	l := newLab(t, hosts("*.ok.test:7"), func(l *lab, _ *judge.Rules, _ *proxy.Config) { l.late = late })
	answer := sync.OnceFunc(func() { close(late) })
	t.Cleanup(answer)
	lookups := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.looked)
	}
	for i := range 512 {
		l.client().say("CONNECT n%d.ok.test:7 HTTP/1.1\r\n\r\n", i)
	}
	eventually(t, "all are asked for", func() bool { return lookups() == 512 })
	if resp, _ := l.client().say("CONNECT more.ok.test:7 HTTP/1.1\r\n\r\n").answer("CONNECT"); resp.StatusCode != 503 || lookups() != 512 {
		t.Errorf("one more: %d, %d names are asked for at once", resp.StatusCode, lookups())
	}
	answer()
	eventually(t, "the places are free again", func() bool {
		resp, _ := l.client().say("CONNECT n.ok.test:7 HTTP/1.1\r\n\r\n").answer("CONNECT")
		return resp.StatusCode == 502
	})
}

// Thousands of connections that ask for nothing whole shut nobody out.
func TestHalfOpen(t *testing.T) {
	l := newLab(t, hosts("ok.test:7", "ok.test"))
	l.origin("ok.test", 7, echo)
	l.site("ok.test", 80, headers)
	var idle []net.Conn
	t.Cleanup(func() {
		for _, c := range idle {
			c.Close()
		}
	})
	for i := range 2500 {
		c, err := net.Dial("tcp", l.at)
		if err != nil {
			t.Fatal(err)
		}
		idle = append(idle, c)
		io.WriteString(c, []string{"", "CONNECT ok.test:7 HTTP/1.1\r\nX: ", "\x05", "GET http://ok.test/ HT"}[i%4])
		if i%500 == 499 {
			l.connect("ok.test:7")
			if resp, _ := l.ask("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n"); resp.StatusCode != 200 {
				t.Fatalf("after %d: %d", i, resp.StatusCode)
			}
		}
	}
	ended := 0
	for _, c := range idle[:500] {
		c.SetReadDeadline(time.Now().Add(patience))
		if _, err := c.Read(make([]byte, 1)); err != nil && !os.IsTimeout(err) {
			ended++
		}
	}
	if ended != 500 {
		t.Errorf("of those that waited longest %d of 500 were ended", ended)
	}
}

// A failing accept ends nothing.
func TestAcceptFails(t *testing.T) {
	l := newLab(t, hosts("ok.test:7"))
	l.origin("ok.test", 7, echo)
	ln := &failing{Listener: listen(t), left: 3}
	served := make(chan error, 1)
	go func() { served <- l.proxy.Serve(ln) }()
	c := dialClient(t, ln.Addr().String()).say("CONNECT ok.test:7 HTTP/1.1\r\n\r\n")
	if resp, _ := c.answer("CONNECT"); resp.StatusCode != 200 {
		t.Errorf("%d", resp.StatusCode)
	}
	ln.Close()
	if err := <-served; err == nil {
		t.Error("a listener that others close is no error")
	}
}

type failing struct {
	net.Listener
	mu   sync.Mutex
	left int
}

func (f *failing) Accept() (net.Conn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left > 0 {
		f.left--
		return nil, fmt.Errorf("accept: too many open files")
	}
	return f.Listener.Accept()
}

func TestStop(t *testing.T) {
	l := newLab(t, hosts("ok.test:7", "ok.test"))
	l.origin("ok.test", 7, echo)
	hold := make(chan bool)
	l.site("ok.test", 80, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "begin")
		w.(http.Flusher).Flush()
		<-hold
	})
	t.Cleanup(func() { close(hold) })
	tunnel := l.connect("ok.test:7")
	tunnel.say("x").read(1)
	page := l.client().say("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n")
	resp, err := http.ReadResponse(page.r, nil)
	if err != nil {
		t.Fatal(err)
	}
	io.ReadFull(resp.Body, make([]byte, 5))
	l.proxy.Stop("the owner said so")
	for name, c := range map[string]*client{"tunnel": tunnel, "page": page} {
		if _, err := io.Copy(io.Discard, c.TCPConn); err != nil && os.IsTimeout(err) {
			t.Errorf("%s goes on", name)
		}
	}
	refusedBy := func(want string) {
		t.Helper()
		resp, body := l.ask("CONNECT ok.test:7 HTTP/1.1\r\n\r\n")
		if resp.StatusCode != 503 || resp.Header.Get("Lnk-Refused") != want || !contains(body, "the owner said so") {
			t.Errorf("%d %v %q", resp.StatusCode, resp.Header, body)
		}
	}
	refusedBy("stopped")
	l.proxy.Pause("the owner said so")
	refusedBy("paused")
	l.proxy.Resume()
	l.connect("ok.test:7").say("x").read(1)
}

// A pause holds both ways of what is open, and a resume loses nothing.
func TestPause(t *testing.T) {
	l := newLab(t, hosts("ok.test:7"))
	l.origin("ok.test", 7, echo)
	c := l.connect("ok.test:7")
	c.say("before").read(6)
	l.proxy.Pause("")
	c.say("during")
	c.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	if b, err := c.r.Peek(1); err == nil {
		t.Errorf("%q came through a pause", b)
	}
	up, _ := l.proxy.Carried()
	if up != 6 {
		t.Errorf("carried %d bytes", up)
	}
	l.proxy.Resume()
	c.SetReadDeadline(time.Now().Add(patience))
	if got := c.read(6); got != "during" {
		t.Errorf("%q", got)
	}
	l.proxy.Pause("")
	c.say("last")
	l.proxy.Stop("")
	if _, err := io.Copy(io.Discard, c.TCPConn); err != nil && os.IsTimeout(err) {
		t.Error("a stop in a pause ends nothing")
	}
}

// A stop in a pause ends plain requests too, which wait for the pause to end.
func TestStopInPause(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	more := make(chan bool)
	l.site("ok.test", 80, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "begin")
		w.(http.Flusher).Flush()
		<-more
	})
	c := l.client().say("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n")
	resp, err := http.ReadResponse(c.r, nil)
	if err != nil {
		t.Fatal(err)
	}
	io.ReadFull(resp.Body, make([]byte, 5))
	l.proxy.Pause("")
	close(more)
	time.Sleep(50 * time.Millisecond) // the rest has come as far as the pause
	l.proxy.Stop("")
	eventually(t, "the request is over", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.ended) == 1
	})
}

// What is carried is counted exactly, and told at the end.
func TestCounts(t *testing.T) {
	l := newLab(t, hosts("ok.test:7"))
	l.origin("ok.test", 7, echo)
	c := l.connect("ok.test:7").say("%s", strings.Repeat("x", 100000))
	c.CloseWrite()
	c.rest()
	eventually(t, "told", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.ended) == 1
	})
	if up, down := l.proxy.Carried(); up != 100000 || down != 100003 {
		t.Errorf("carried %d up, %d down", up, down)
	}
	r := l.ended[0]
	if !r.Allowed || r.Host != "ok.test" || r.Port != 7 || r.Up != 100000 || r.Down != 100003 || r.By != judge.ByConnect || r.Reason != "" {
		t.Errorf("%+v", r)
	}
}

func TestConfig(t *testing.T) {
	j, err := judge.New(judge.Rules{}, judge.Machine())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []proxy.Config{{}, {Judge: j}, {Sandbox: "x"}, {Judge: j, Sandbox: "x", PerMinute: -1}, {Judge: j, Sandbox: "x\ny"}, {Judge: j, Sandbox: "<x>"}} {
		if p, err := proxy.New(c); err == nil {
			p.Close()
			t.Errorf("%+v is taken", c)
		}
	}
	p, err := proxy.New(proxy.Config{Judge: j, Sandbox: "x"})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	p.Close()
	if err := p.Serve(listen(t)); err != nil {
		t.Errorf("a closed proxy: %v", err)
	}
}
