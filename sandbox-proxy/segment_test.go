package proxy_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
)

// counted counts what is written to its connections.
type counted struct {
	net.Listener
	writes atomic.Int32
}

func (l *counted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &countedConn{c, l}, err
}

type countedConn struct {
	net.Conn
	on *counted
}

func (c *countedConn) Write(b []byte) (int, error) {
	c.on.writes.Add(1)
	return c.Conn.Write(b)
}

// A short answer that came at once goes on at once. A head whose body is still
// to come, of any framing, does not wait for it, nor a piece for the next.
func TestSegments(t *testing.T) {
	read := make(chan struct{})
	pieces := map[string][]string{
		"/whole": {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"},
		"/line":  {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell\n"},
		"/none":  {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
		"/head":  {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "hello"},
		"/bare":  {"HTTP/1.1 200 OK\nContent-Length: 5\n\n", "hello"},
		"/piece": {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", "llo"},
		"/chunk": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n", "3\r\nllo\r\n", "0\r\n\r\n"},
		"/empty": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "0\r\n\r\n"},
		"/end":   {"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhe", "llo"},
	}
	l := newLab(t, hosts("ok.test"))
	l.origin("ok.test", 80, func(c *net.TCPConn) {
		for r := bufio.NewReader(c); ; {
			asked, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			path := asked.URL.Path
			for i, piece := range pieces[path] {
				if i > 0 {
					select {
					case <-read:
					case <-t.Context().Done():
						return
					}
				}
				io.WriteString(c, piece)
			}
			if path == "/end" {
				return
			}
		}
	})
	ln := &counted{Listener: listen(t)}
	go l.proxy.Serve(ln)
	c := dialClient(t, ln.Addr().String())
	for _, path := range []string{"/whole", "/line", "/none", "/head", "/bare", "/piece", "/chunk", "/empty", "/whole", "/end"} {
		before := ln.writes.Load()
		c.say("GET http://ok.test%s HTTP/1.1\r\nHost: ok.test\r\n\r\n", path)
		for line := ""; line != "\r\n"; {
			var err error
			if line, err = c.r.ReadString('\n'); err != nil {
				t.Fatal(path, err)
			}
		}
		want, rest := "", ""
		switch path {
		case "/whole":
			want = "hello"
		case "/line":
			want = "hell\n"
		case "/head", "/bare":
			rest = "hello"
		case "/piece":
			want, rest = "he", "llo"
		case "/chunk":
			want, rest = "2\r\nhe\r\n", "3\r\nllo\r\n"
		case "/empty":
			rest = "0\r\n\r\n"
		case "/end":
			want, rest = "2\r\nhe\r\n", "3\r\nllo\r\n"
		}
		if got := c.read(len(want)); got != want {
			t.Errorf("%s: %q before the rest was sent", path, got)
		}
		if rest != "" {
			read <- struct{}{}
		}
		if got := c.read(len(rest)); got != rest {
			t.Errorf("%s: %q of the rest", path, got)
		}
		if path == "/chunk" {
			read <- struct{}{}
			c.read(len("0\r\n\r\n"))
		}
		if n := ln.writes.Load() - before; rest == "" && n != 1 {
			t.Errorf("%s: %d writes, want 1", path, n)
		}
	}
}
