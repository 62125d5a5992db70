package proxy_test

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// echoInside is a server that says back what it is told, and its dialer: a port
// inside as the proxy sees it.
func echoInside(t *testing.T) func(context.Context) (net.Conn, error) {
	t.Helper()
	ln := listen(t)
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() { io.Copy(c, c); c.Close() }()
		}
	}()
	return func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", ln.Addr().String())
	}
}

// calls asks what a served port says; "" is a reset.
func calls(t *testing.T, at string) string {
	t.Helper()
	c, err := net.Dial("tcp", at)
	if errors.Is(err, syscall.ECONNRESET) {
		return "" // before the dialer was told that it is connected
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	io.WriteString(c, "ping")
	c.(*net.TCPConn).CloseWrite()
	b, _ := io.ReadAll(c)
	return string(b)
}

func TestServeInward(t *testing.T) {
	l := newLab(t)
	ln := listen(t)
	at := ln.Addr().String()
	go l.proxy.ServeInward(ln, 3000, echoInside(t))
	if got := calls(t, at); got != "ping" {
		t.Errorf("got %q", got)
	}
	eventually(t, "the call is told of", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.ended) == 1
	})
	l.proxy.Stop("")
	if got := calls(t, at); got != "" {
		t.Errorf("stopped: %q", got)
	}
	l.proxy.Resume()
	l.proxy.Pause("")
	if got := calls(t, at); got != "" {
		t.Errorf("paused: %q", got)
	}
	l.proxy.Resume()
	if got := calls(t, at); got != "ping" {
		t.Errorf("after: %q", got)
	}
	if up, down := l.proxy.Carried(); up != 8 || down != 8 {
		t.Errorf("up %d, down %d", up, down)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ended) == 0 || l.ended[0].By != judge.ByServe || l.ended[0].Port != 3000 || !l.ended[0].Allowed {
		t.Errorf("records: %+v", l.ended)
	}
}

// A stop cuts what is open, and one connection more than there is place for is
// reset: neither takes a place of the program's own calls.
func TestServeInwardBounds(t *testing.T) {
	l := newLab(t, hosts("a.test:7"))
	ln := listen(t)
	go l.proxy.ServeInward(ln, 3000, echoInside(t))
	var open []net.Conn
	for range 512 {
		c, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(patience))
		io.WriteString(c, "x")
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	if got := calls(t, ln.Addr().String()); got != "" {
		t.Errorf("one more: %q", got)
	}
	l.proxy.Stop("")
	for _, c := range open {
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Fatal("a stopped wire goes on")
		}
	}
}

func TestServeInwardWithNothingInside(t *testing.T) {
	l := newLab(t)
	ln := listen(t)
	go l.proxy.ServeInward(ln, 3000, func(context.Context) (net.Conn, error) { return nil, errors.New("refused") })
	if got := calls(t, ln.Addr().String()); got != "" {
		t.Errorf("got %q", got)
	}
	eventually(t, "it is told of as what it is", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.ended) == 1 && l.ended[0].Detail == "nothing inside answers at that port"
	})
}
