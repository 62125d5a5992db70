package proxy_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of these tests. Nothing is measured by it.
const patience = 20 * time.Second

// A lab is a proxy on loopback, names that resolve to documentation addresses,
// and origins on loopback that stand for those addresses.
type lab struct {
	t     *testing.T
	proxy *proxy.Proxy
	at    string // the proxy

	mu      sync.Mutex
	names   map[string][]netip.Addr
	places  map[netip.AddrPort]string // where an address really is
	looked  []string
	dialled []string
	refused []proxy.Refusal
	ended   []proxy.Record
	hosts   byte
	late    chan struct{} // names are answered once it is closed, where it is there
	pauseAt atomic.Bool   // the next dial is in a pause
}

type option func(*lab, *judge.Rules, *proxy.Config)

func hosts(all ...string) option {
	return func(_ *lab, r *judge.Rules, _ *proxy.Config) { r.Hosts = append([]string{}, all...) }
}

func tcp(all ...string) option {
	return func(_ *lab, r *judge.Rules, _ *proxy.Config) { r.TCP = all }
}

func with(f func(*judge.Rules, *proxy.Config)) option {
	return func(_ *lab, r *judge.Rules, c *proxy.Config) { f(r, c) }
}

func newLab(t *testing.T, options ...option) *lab {
	t.Helper()
	l := &lab{t: t, names: map[string][]netip.Addr{}, places: map[netip.AddrPort]string{}}
	rules := judge.Rules{Hosts: []string{}}
	config := proxy.Config{Sandbox: "web", Dial: l.dial, Refused: l.tellRefused, Ended: l.tellEnded}
	for _, o := range options {
		o(l, &rules, &config)
	}
	j, err := judge.New(rules, judge.System{Lookup: l.lookup, Interfaces: func() ([]netip.Prefix, error) {
		return []netip.Prefix{netip.MustParsePrefix("127.0.0.1/8"), netip.MustParsePrefix("10.9.0.2/24")}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	config.Judge = j
	l.proxy, err = proxy.New(config)
	if err != nil {
		t.Fatal(err)
	}
	ln := listen(t)
	l.at = ln.Addr().String()
	served := make(chan error, 1)
	go func() { served <- l.proxy.Serve(ln) }()
	t.Cleanup(func() {
		l.proxy.Close()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return l
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

func (l *lab) lookup(_ context.Context, name string) ([]netip.Addr, error) {
	l.mu.Lock()
	l.looked = append(l.looked, name)
	l.mu.Unlock()
	if l.late != nil {
		<-l.late
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if a := l.names[name]; len(a) > 0 {
		return a, nil
	}
	return nil, errors.New("no such host")
}

func (l *lab) dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	l.mu.Lock()
	l.dialled = append(l.dialled, to.String())
	place, ok := l.places[to]
	l.mu.Unlock()
	if !ok {
		if !to.Addr().IsLoopback() {
			return nil, errors.New("connect: connection refused")
		}
		place = to.String()
	}
	if l.pauseAt.Load() {
		l.proxy.Pause("")
		defer l.pauseAt.Store(false)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", place)
}

func (l *lab) tellRefused(r proxy.Refusal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused = append(l.refused, r)
}

func (l *lab) tellEnded(r proxy.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = append(l.ended, r)
}

func (l *lab) dials() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.dialled...)
}

// name has a name resolve to addresses.
func (l *lab) name(name string, addrs ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.names[name] = nil
	for _, a := range addrs {
		l.names[name] = append(l.names[name], netip.MustParseAddr(a))
	}
}

// listenAs listens at a name's port. The name gets an address of its own the
// first time.
func (l *lab) listenAs(name string, port uint16) net.Listener {
	l.t.Helper()
	ln := listen(l.t)
	l.mu.Lock()
	if len(l.names[name]) == 0 {
		l.hosts++
		l.names[name] = []netip.Addr{netip.AddrFrom4([4]byte{192, 0, 2, l.hosts})}
	}
	for _, a := range l.names[name] {
		l.places[netip.AddrPortFrom(a, port)] = ln.Addr().String()
	}
	l.mu.Unlock()
	return ln
}

// origin serves a name's port, each connection by f.
func (l *lab) origin(name string, port uint16, f func(c *net.TCPConn)) {
	l.t.Helper()
	serveConns(l.t, l.listenAs(name, port), f)
}

// serveConns serves each connection by f until the test ends.
func serveConns(t *testing.T, ln net.Listener, f func(c *net.TCPConn)) {
	var work sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	work.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[c] = true
			mu.Unlock()
			work.Go(func() {
				defer c.Close()
				f(c.(*net.TCPConn))
				mu.Lock()
				delete(open, c)
				mu.Unlock()
			})
		}
	})
	t.Cleanup(func() {
		ln.Close()
		mu.Lock()
		for c := range open {
			c.Close()
		}
		mu.Unlock()
		work.Wait()
	})
}

// site serves a name's port with an HTTP handler.
func (l *lab) site(name string, port uint16, h http.HandlerFunc) {
	l.t.Helper()
	s := &http.Server{Handler: h}
	go s.Serve(l.listenAs(name, port))
	l.t.Cleanup(func() { s.Close() })
}

// A client is a raw connection to the proxy.
type client struct {
	*net.TCPConn
	t *testing.T
	r *bufio.Reader
}

func (l *lab) client() *client {
	l.t.Helper()
	return dialClient(l.t, l.at)
}

func dialClient(t *testing.T, at string) *client {
	t.Helper()
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(patience))
	t.Cleanup(func() { c.Close() })
	return &client{c.(*net.TCPConn), t, bufio.NewReader(c)}
}

func (c *client) say(format string, a ...any) *client {
	c.t.Helper()
	if len(a) > 0 {
		format = fmt.Sprintf(format, a...)
	}
	if _, err := io.WriteString(c.TCPConn, format); err != nil {
		c.t.Fatal(err)
	}
	return c
}

// answer reads an answer and its whole body. A GET was asked unless method
// says otherwise.
func (c *client) answer(method ...string) (*http.Response, string) {
	c.t.Helper()
	m := "GET"
	if len(method) > 0 {
		m = method[0]
	}
	resp, err := http.ReadResponse(c.r, &http.Request{Method: m})
	if err != nil {
		c.t.Fatalf("no answer: %v", err)
	}
	if m == "CONNECT" && resp.StatusCode == 200 {
		return resp, ""
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatalf("body of the answer: %v after %q", err, b)
	}
	resp.Body.Close()
	return resp, string(b)
}

// connect opens a tunnel.
func (l *lab) connect(target string) *client {
	l.t.Helper()
	c := l.client().say("CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target)
	if resp, body := c.answer("CONNECT"); resp.StatusCode != 200 {
		l.t.Fatalf("CONNECT %s: %d %s", target, resp.StatusCode, body)
	}
	return c
}

// ask sends raw bytes on a connection of its own and gives the answer.
func (l *lab) ask(raw string) (*http.Response, string) {
	l.t.Helper()
	return l.client().say("%s", raw).answer()
}

// rest reads to the end.
func (c *client) rest() (string, error) {
	b, err := io.ReadAll(c.r)
	return string(b), err
}

func (c *client) read(n int) string {
	c.t.Helper()
	b := make([]byte, n)
	if _, err := io.ReadFull(c.r, b); err != nil {
		c.t.Fatalf("read %q, then %v", b, err)
	}
	return string(b)
}

// eventually waits for something that another goroutine does.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func contains(s string, all ...string) bool {
	for _, part := range all {
		if !strings.Contains(s, part) {
			return false
		}
	}
	return true
}
