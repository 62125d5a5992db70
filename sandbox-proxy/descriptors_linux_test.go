package proxy_test

import (
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// sockets counts this process's open sockets.
func sockets(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range all {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// settled counts them once those of the tests before are gone.
func settled(t *testing.T) int {
	t.Helper()
	runtime.GC()
	last, same := -1, 0
	eventually(t, "a count that stays", func() bool {
		time.Sleep(10 * time.Millisecond)
		n := sockets(t)
		if n == last {
			same++
		} else {
			last, same = n, 0
		}
		return same == 20
	})
	return last
}

// Whatever becomes of calls, no descriptor of theirs outlives the proxy.
func TestDescriptors(t *testing.T) {
	l := newLab(t, hosts("ok.test", "cut.test", "ok.test:7", "gone.test:7"))
	l.site("ok.test", 80, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "page") })
	l.origin("cut.test", 80, func(c *net.TCPConn) { c.Read(make([]byte, 1)) })
	l.origin("ok.test", 7, echo)
	l.origin("ok.test", 443, echo)
	l.name("gone.test", "192.0.2.99")
	carried := l.carry(map[string]string{"198.18.0.1": "ok.test"})
	all := []func() *client{
		func() *client { return l.connect("ok.test:7").say("x") },
		func() *client { return l.connect("ok.test:443").say("no TLS") },
		func() *client { return l.connect("ok.test:80") },
		func() *client { return l.connect("ok.test:80").say("no http\r\n\r\n") },
		func() *client { return l.client().say("CONNECT gone.test:7 HTTP/1.1\r\n\r\n") },
		func() *client { return l.client().say("CONNECT evil.test:7 HTTP/1.1\r\n\r\n") },
		func() *client { return l.client().say("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n") },
		func() *client { return l.client().say("GET http://ok.test/ HTTP/1.1\r\nHo") },
		func() *client {
			return l.client().say("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		},
		func() *client {
			c := l.client().say("GET http://cut.test/ HTTP/1.1\r\nHost: cut.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
			c.answer()
			return c
		},
		func() *client { _, c := l.socks(socksCall(3, "ok.test", 7)); return c },
		func() *client { _, c := l.socks(socksCall(3, "gone.test", 7)); return c },
		func() *client { return l.client().say("\x05\x01") },
		func() *client { return carried("198.18.0.1:80").say("GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n") },
		func() *client { return carried("198.18.0.1:7") },
		func() *client { return carried("198.18.0.9:7") },
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which closes what was forgotten
	before := settled(t)
	for range 10 {
		for _, f := range all {
			f().Close()
		}
	}
	l.proxy.Close() // and with it the origins that are kept for the next request
	eventually(t, "no more sockets than before", func() bool { return sockets(t) <= before })
}
