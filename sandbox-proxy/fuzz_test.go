package proxy_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// FuzzProxy: whatever a program says to the proxy, nothing is dialled and no
// name is looked up but what the rules name.
func FuzzProxy(f *testing.F) {
	for _, s := range []string{
		"CONNECT ok.test:443 HTTP/1.1\r\nHost: ok.test:443\r\n\r\n\x16\x03\x01",
		"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\nGET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n",
		"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nCONNECT evil.test:1 HTTP/1.1\r\n\r\n",
		"\x05\x01\x00\x05\x01\x00\x03\x07ok.test\x01\xbb",
		"\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50",
		"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nx",
		"CONNECT 127.0.0.1:80 HTTP/1.1\r\n\r\n", "CONNECT 0:80 HTTP/1.1\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	var mu sync.Mutex
	var wrong []string
	saw := func(what string, may ...string) {
		if slices.Contains(may, what) {
			return
		}
		mu.Lock()
		wrong = append(wrong, what)
		mu.Unlock()
	}
	j, err := judge.New(judge.Rules{Hosts: []string{"ok.test"}, TCP: []string{"db.test:5"}}, judge.System{
		Lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
			saw(name, "ok.test", "db.test")
			return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
		},
		Interfaces: func() ([]netip.Prefix, error) { return nil, nil },
	})
	if err != nil {
		f.Fatal(err)
	}
	p, err := proxy.New(proxy.Config{Sandbox: "fuzz", Judge: j, Dial: func(_ context.Context, to netip.AddrPort) (net.Conn, error) {
		saw(to.String(), "192.0.2.1:80", "192.0.2.1:443", "192.0.2.1:5")
		return nil, errors.New("nobody there")
	}})
	if err != nil {
		f.Fatal(err)
	}
	l := &piped{conns: make(chan net.Conn), closed: make(chan struct{})}
	go p.Serve(l)
	f.Cleanup(func() { p.Close() })
	f.Fuzz(func(t *testing.T, b []byte) {
		near, far := net.Pipe()
		l.conns <- far
		near.SetDeadline(time.Now().Add(patience))
		go func() {
			near.Write(b)
			near.SetReadDeadline(time.Now().Add(20 * time.Millisecond)) // it waits for more
		}()
		io.Copy(io.Discard, near)
		near.Close()
		mu.Lock()
		defer mu.Unlock()
		if len(wrong) > 0 {
			t.Fatalf("%q: dialled or looked up %q", b, wrong)
		}
	})
}

// piped is a listener of pipes.
type piped struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *piped) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *piped) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *piped) Addr() net.Addr { return &net.UnixAddr{} }
