package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// whole is an answer that says how long it is.
func whole(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// asked is a GET as a proxy is sent it.
func asked(host, path string) string {
	return "GET http://" + host + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n"
}

// turns serves a name's port 80: the first connection by first, every other with
// the answer "real" to each request. It gives how many connections there were.
func (l *lab) turns(name string, first func(c *net.TCPConn, r *bufio.Reader)) *atomic.Int32 {
	n := new(atomic.Int32)
	l.origin(name, 80, func(c *net.TCPConn) {
		r := bufio.NewReader(c)
		if n.Add(1) == 1 {
			first(c, r)
			return
		}
		for {
			if _, err := rawHead(r); err != nil {
				return
			}
			io.WriteString(c, whole("real"))
		}
	})
	return n
}

// A host may close a connection that is kept just as it is used again, with an end
// or a reset, or say then that it has waited too long: it is asked again, and the
// program hears of nothing.
func TestKeptIsAskedAgain(t *testing.T) {
	for name, ends := range map[string]func(c *net.TCPConn){
		"end":   func(c *net.TCPConn) {},
		"reset": func(c *net.TCPConn) { c.SetLinger(0) },
		"408": func(c *net.TCPConn) {
			io.WriteString(c, "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, hosts("ok.test"))
			conns := l.turns("ok.test", func(c *net.TCPConn, r *bufio.Reader) {
				rawHead(r)
				io.WriteString(c, whole("first"))
				rawHead(r)
				ends(c)
			})
			c := l.client()
			for _, want := range []string{"first", "real", "real"} {
				if resp, body := c.say("%s", asked("ok.test", "/")).answer(); resp.StatusCode != 200 || body != want {
					t.Errorf("%d %q, want %q", resp.StatusCode, body, want)
				}
			}
			if n := conns.Load(); n != 2 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

// An answer that is no answer on a connection that is kept is the program's.
func TestTimeoutThatStays(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.origin("ok.test", 80, func(c *net.TCPConn) {
		rawHead(bufio.NewReader(c))
		io.WriteString(c, "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 3\r\n\r\nown")
	})
	for range 2 {
		if resp, body := l.ask(asked("ok.test", "/")); resp.StatusCode != 408 || body != "own" {
			t.Errorf("%d %q", resp.StatusCode, body)
		}
	}
}

// What a host says that nobody asked for is not taken for the answer to the next
// request, wherever it is kept until then.
func TestUnaskedIsNoAnswer(t *testing.T) {
	const forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
	// The head is longer than what is read at first, which ends in the middle of a
	// line: so that what is behind it is no reader's yet.
	const firstRead = 4096
	long := "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
	long += "X-A: " + strings.Repeat("a", firstRead-len(forged)-len(long)-len("X-A: \r\n")) + "\r\n"
	long += "X-B: " + strings.Repeat("b", firstRead-len("X-B: \r\n\r\n")) + "\r\n\r\n"
	for name, c := range map[string]struct{ first, later, want string }{
		"behind":        {whole("first") + forged, "", "first"},
		"408 behind":    {whole("first") + "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n", "", "first"},
		"later":         {whole("first"), forged, "first"},
		"408 later":     {whole("first"), "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n", "first"},
		"none":          {"HTTP/1.1 204 No Content\r\nContent-Length: 6\r\n\r\nforged", "", ""},
		"long head":     {long + forged, "", ""},
		"chunks":        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n0\r\n\r\n" + forged, "", "first"},
		"a line behind": {whole("first"), "\r\n", "first"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, hosts("ok.test"))
			said := make(chan bool)
			l.turns("ok.test", func(conn *net.TCPConn, r *bufio.Reader) {
				rawHead(r)
				io.WriteString(conn, c.first)
				if c.later != "" {
					<-said
					io.WriteString(conn, c.later)
					said <- true
				}
				for {
					if _, err := rawHead(r); err != nil {
						return
					}
					io.WriteString(conn, whole("late"))
				}
			})
			client := l.client()
			if _, body := client.say("%s", asked("ok.test", "/")).answer(); body != c.want {
				t.Fatalf("%q", body)
			}
			if c.later != "" {
				said <- true
				<-said
			}
			if resp, body := client.say("%s", asked("ok.test", "/")).answer(); resp.StatusCode != 200 || body != "real" {
				t.Errorf("%d %q", resp.StatusCode, body)
			}
		})
	}
}

// Nor is it over TLS, where it may have been read with what was asked for.
func TestUnaskedInTLS(t *testing.T) {
	body := strings.Repeat("x", 300000)
	var conns atomic.Int32
	at, roots := secureSite(t, func(w http.ResponseWriter, r *http.Request) {
		if conns.Add(1) > 1 {
			io.WriteString(w, "real")
			return
		}
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		// In one record of TLS the body's end, of which more is left than is read
		// ahead, and another answer. Records are small at first.
		all := whole(body)
		io.WriteString(c, all[:len(all)-10000])
		io.WriteString(c, all[len(all)-10000:]+whole("forged"))
		io.Copy(io.Discard, c)
	})
	l := newLab(t, hosts("example.com"), with(func(_ *judge.Rules, c *proxy.Config) { c.Roots = roots }))
	l.place("example.com", 443, at)
	c := l.client()
	for i, want := range []string{body, "real", "real"} {
		resp, got := c.say("GET https://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n").answer()
		if resp.StatusCode != 200 || got != want {
			t.Errorf("answer %d: %d %.20q", i, resp.StatusCode, got)
		}
	}
	if n := conns.Load(); n != 3 { // requests
		t.Errorf("%d requests", n)
	}
}

// However many were asked at once, few connections are kept, and none that its
// host has ended.
func TestFewAreKept(t *testing.T) {
	const at, kept = 100, 64
	l := newLab(t, hosts("ok.test"))
	var open atomic.Int32
	var all sync.WaitGroup
	all.Add(at)
	ended := make(chan bool)
	l.origin("ok.test", 80, func(c *net.TCPConn) {
		open.Add(1)
		defer open.Add(-1)
		r := bufio.NewReader(c)
		rawHead(r)
		all.Done()
		all.Wait()
		io.WriteString(c, whole("ok"))
		gone := make(chan bool)
		go func() {
			defer close(gone)
			r.Peek(1)
		}()
		select {
		case <-gone:
		case <-ended:
			c.CloseWrite()
			<-gone
		}
	})
	var clients []*client
	for range at {
		clients = append(clients, l.client().say("%s", asked("ok.test", "/")))
	}
	for _, c := range clients {
		if _, body := c.answer(); body != "ok" {
			t.Fatal(body)
		}
	}
	eventually(t, "as many as may be kept", func() bool { return open.Load() == kept })
	close(ended)
	eventually(t, "none that has ended", func() bool { return open.Load() == 0 })
}

// A program that leaves in a pause holds nothing until it is over.
func TestLeavesInPause(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	arrived, answer, cut := make(chan bool), make(chan bool), make(chan bool)
	l.origin("ok.test", 80, func(c *net.TCPConn) {
		r := bufio.NewReader(c)
		rawHead(r)
		arrived <- true
		<-answer
		io.WriteString(c, whole("ok"))
		r.Peek(1)
		close(cut)
	})
	c := l.client().say("%s", asked("ok.test", "/"))
	<-arrived
	l.proxy.Pause("")
	answer <- true
	time.Sleep(20 * time.Millisecond) // it is read, or it is not
	l.leaves(c, cut)
	l.proxy.Resume()
}

// A tunnel that waited for its first request is not asked on where its host has
// ended it meanwhile, or has said so.
func TestTunnelThatHasEnded(t *testing.T) {
	for _, says := range []string{"", "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n"} {
		for _, request := range []string{
			"GET / HTTP/1.1\r\nHost: ok.test\r\n\r\n",
			"POST / HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 0\r\n\r\n",
		} {
			l := newLab(t, hosts("ok.test"))
			ended := make(chan bool)
			conns := l.turns("ok.test", func(c *net.TCPConn, _ *bufio.Reader) {
				io.WriteString(c, says)
				c.Close()
				close(ended)
			})
			c := l.connect("ok.test:80")
			<-ended
			time.Sleep(20 * time.Millisecond) // the end arrives
			if resp, body := c.say("%s", request).answer(); resp.StatusCode != 200 || body != "real" {
				t.Errorf("%.5q, %.12q said: %d %q", request, says, resp.StatusCode, body)
			}
			if n := conns.Load(); n != 2 {
				t.Errorf("%d connections", n)
			}
		}
	}
}

// One that ends it just as it is asked is asked again.
func TestTunnelThatEnds(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.turns("ok.test", func(c *net.TCPConn, r *bufio.Reader) { rawHead(r) })
	resp, body := l.connect("ok.test:80").say("GET / HTTP/1.1\r\nHost: ok.test\r\n\r\n").answer()
	if resp.StatusCode != 200 || body != "real" {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
}
