package proxy

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// poolOf is a pool of as many connections as most, and the far sides of as many as
// n that are kept in it.
func poolOf(t *testing.T, most, n int) (p *pool, far []net.Conn) {
	t.Helper()
	j, err := judge.New(judge.Rules{Hosts: []string{}}, judge.Machine())
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := New(Config{Sandbox: "web", Judge: j})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { proxy.Close() })
	p = newPool(proxy, most)
	proxy.kept = p
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	for i := range n {
		near, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		other, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { other.Close() })
		o, err := proxy.share(near)
		if err != nil {
			t.Fatal(err)
		}
		far = append(far, other)
		p.put(newKept(o, origination{host: string(rune('a' + i))}, false))
	}
	return p, far
}

func (p *pool) keeps() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.idle.Len()
}

// ended says whether the other side has closed, and nothing was said.
func ended(t *testing.T, c net.Conn) bool {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	n, err := c.Read(make([]byte, 1))
	if n > 0 {
		t.Error("something was said")
	}
	return err != nil && !timedOut(err)
}

// The one that has been there longest makes room for the next.
func TestPoolIsBounded(t *testing.T) {
	p, far := poolOf(t, 2, 4)
	if n := p.keeps(); n != 2 || len(p.of) != 2 {
		t.Errorf("%d, %d", n, len(p.of))
	}
	for i, c := range far {
		if got, want := ended(t, c), i < 2; got != want {
			t.Errorf("%d: ended %v", i, got)
		}
	}
}

// What has been there for long is closed by whoever looks, and the clock stands
// still once there is nothing to look at.
func TestPoolIsLookedAt(t *testing.T) {
	p, far := poolOf(t, 9, 3)
	p.mu.Lock()
	p.idle.Front().Value.(*kept).since = time.Now().Add(-2 * idleOriginTime)
	p.mu.Unlock()
	far[1].Close()
	time.Sleep(10 * time.Millisecond) // the end arrives
	p.lookAtAll()
	if n := p.keeps(); n != 1 || !ended(t, far[0]) || ended(t, far[2]) {
		t.Errorf("%d are kept", n)
	}
	p.closeIdle(func(*kept) bool { return true })
	if p.keeps() != 0 || len(p.of) > 0 || p.look.Stop() {
		t.Error("there is still something to look at")
	}
}

// A call that a stop has ended says nothing to its host, also where a connection
// from after the stop is there for it.
func TestStoppedCallAsksNobody(t *testing.T) {
	p, far := poolOf(t, 9, 1)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	c := &call{proxy: p.proxy, ctx: ctx}
	got, err := p.question(new(asking), &question{call: c, to: origination{host: "a"}, method: "GET", head: []byte("GET / HTTP/1.1\r\n\r\n")})
	if err == nil || got.connected {
		t.Errorf("%v, connected %v", err, got.connected)
	}
	if !ended(t, far[0]) {
		t.Error("the connection is still open")
	}
}
