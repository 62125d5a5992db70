package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
)

// leaves has a program leave, not only end its side, and waits for its host to be
// told, and for the record.
func (l *lab) leaves(c *client, told <-chan bool) {
	l.t.Helper()
	c.SetLinger(0)
	c.Close()
	select {
	case <-told:
	case <-time.After(patience):
		l.t.Fatal("the host is still asked")
	}
	eventually(l.t, "the record", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.ended) == 1
	})
}

// pathHost answers each request with its path, whose time comes when its first
// letter is let go, where there is something to wait for.
func (l *lab) pathHost(name string, waits map[string]chan bool) {
	l.origin(name, 80, func(c *net.TCPConn) {
		for r := bufio.NewReader(c); ; {
			head, err := rawHead(r)
			if err != nil {
				return
			}
			path := strings.Fields(head)[1]
			if wait := waits[path]; wait != nil {
				wait <- true // it has arrived
				<-wait
			}
			if strings.HasPrefix(head, "POST") {
				r.Discard(4)
			}
			io.WriteString(c, whole(path))
		}
	})
}

// Requests that are sent without a wait are answered in their order, and all of
// them, also where their program ends its side behind them.
func TestPipelined(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.pathHost("ok.test", nil)
	c := l.client()
	var all strings.Builder
	const n = 300 // more than is read at first
	for i := range n {
		switch {
		case i%7 == 3:
			all.WriteString(asked("no.test", "/"))
		case i == n-10: // what is behind it is another server's
			fmt.Fprintf(&all, "POST http://ok.test/%d HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 4\r\n\r\nGET ", i)
		default:
			all.WriteString(asked("ok.test", fmt.Sprintf("/%d", i)))
		}
	}
	go func() {
		io.WriteString(c.TCPConn, all.String())
		c.CloseWrite()
	}()
	for i := range n {
		resp, body := c.answer()
		if i%7 == 3 {
			if resp.StatusCode != 403 {
				t.Fatalf("answer %d: %d %q", i, resp.StatusCode, body)
			}
		} else if resp.StatusCode != 200 || body != fmt.Sprintf("/%d", i) {
			t.Fatalf("answer %d: %d %q", i, resp.StatusCode, body)
		}
	}
	if rest, err := c.rest(); rest != "" || err != nil {
		t.Errorf("%q %v", rest, err)
	}
}

// While a program waits for an answer it is looked at: what it sends meanwhile,
// whole or not, is its next request, and no byte of it is lost.
func TestNextWhileAnswered(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	slow := map[string]chan bool{"/slow": make(chan bool), "/slower": make(chan bool)}
	l.pathHost("ok.test", slow)
	next := asked("ok.test", "/slower")
	for _, part := range []int{0, 1, 20, len(next)} {
		c := l.client().say("%s", asked("ok.test", "/slow"))
		<-slow["/slow"]
		time.Sleep(60 * time.Millisecond) // long enough to be looked at
		c.say("%s", next[:part])
		time.Sleep(5 * time.Millisecond)
		slow["/slow"] <- true
		if _, body := c.answer(); body != "/slow" {
			t.Fatalf("%q", body)
		}
		time.Sleep(5 * time.Millisecond)
		c.say("%s", next[part:])
		<-slow["/slower"]
		slow["/slower"] <- true
		if _, body := c.answer(); body != "/slower" {
			t.Fatalf("%q", body)
		}
	}
}

// A program that leaves ends what it has asked for, before it is answered and
// amid the answer, and the record says who has.
func TestLeavesUnanswered(t *testing.T) {
	for name, says := range map[string]string{
		"before":  "",
		"interim": "HTTP/1.1 103 Early Hints\r\n\r\n",
		"head":    "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
		"amid":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, hosts("ok.test"))
			arrived, cut := make(chan bool), make(chan bool)
			l.origin("ok.test", 80, func(c *net.TCPConn) {
				r := bufio.NewReader(c)
				rawHead(r)
				io.WriteString(c, says)
				close(arrived)
				r.Peek(1)
				close(cut)
			})
			c := l.client().say("%s", asked("ok.test", "/"))
			<-arrived
			if says != "" {
				c.read(1)
			}
			l.leaves(c, cut)
			l.mu.Lock()
			defer l.mu.Unlock()
			if got := l.ended[0]; says == "" && got.Detail != "the program had left before it was told" || got.Reason == proxy.Failed && strings.HasPrefix(got.Detail, "the host") {
				t.Errorf("%q %q", got.Reason, got.Detail)
			}
		})
	}
}

// So does one that leaves just before more of its answer is sent, which is how it
// is found out.
func TestLeavesBeforeAPiece(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	left, cut := make(chan bool), make(chan bool)
	l.origin("ok.test", 80, func(c *net.TCPConn) {
		r := bufio.NewReader(c)
		rawHead(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		<-left
		io.WriteString(c, "2\r\nab\r\n")
		r.Peek(1)
		close(cut)
	})
	c := l.client().say("%s", asked("ok.test", "/"))
	c.read(1)
	c.SetLinger(0)
	c.Close()
	close(left)
	select {
	case <-cut:
	case <-time.After(patience):
		t.Fatal("the host is still asked")
	}
}

// One connection may carry all kinds of requests, one after another.
func TestAllKindsOnOneConnection(t *testing.T) {
	l := newLab(t, hosts("ok.test"), tcp("raw.test:7"))
	l.pathHost("ok.test", nil)
	l.origin("raw.test", 7, echo)
	get := func(c *client, path string) {
		t.Helper()
		if resp, body := c.say("%s", asked("ok.test", path)).answer(); resp.StatusCode != 200 || body != path {
			t.Errorf("%s: %d %q", path, resp.StatusCode, body)
		}
	}
	post := func(c *client) {
		t.Helper()
		if resp, body := c.say("POST http://ok.test/p HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 4\r\n\r\nbody").answer(); resp.StatusCode != 200 || body != "/p" {
			t.Errorf("POST: %d %q", resp.StatusCode, body)
		}
	}
	tunnel := func(c *client) {
		t.Helper()
		c.say("CONNECT raw.test:7 HTTP/1.1\r\nHost: raw.test:7\r\n\r\n")
		if resp, body := c.answer("CONNECT"); resp.StatusCode != 200 {
			t.Fatalf("CONNECT: %d %q", resp.StatusCode, body)
		}
		if got := c.say("ping").read(4); got != "ping" {
			t.Errorf("%q", got)
		}
	}
	c := l.client()
	get(c, "/1")
	get(c, "/2")
	tunnel(c)
	c = l.client()
	get(c, "/3")
	post(c)
	get(c, "/4")
	tunnel(c)
	c = l.client()
	if resp, _ := c.say("HEAD http://ok.test/h HTTP/1.1\r\nHost: ok.test\r\n\r\n").answer("HEAD"); resp.StatusCode != 200 || resp.ContentLength != 2 {
		t.Errorf("HEAD: %d %d", resp.StatusCode, resp.ContentLength)
	}
	get(c, "/5")
	resp, body := c.say("GET http://ok.test/6 HTTP/1.0\r\nHost: ok.test\r\n\r\n").answer()
	if resp.StatusCode != 200 || body != "/6" || !resp.Close {
		t.Errorf("HTTP/1.0: %d %q", resp.StatusCode, body)
	}
	// In a tunnel to port 80 too.
	c = l.connect("ok.test:80")
	for _, target := range []string{"/7", "http://ok.test/7"} {
		if resp, body := c.say("GET %s HTTP/1.1\r\nHost: ok.test\r\n\r\n", target).answer(); resp.StatusCode != 200 || body != "/7" {
			t.Errorf("in a tunnel: %d %q", resp.StatusCode, body)
		}
	}
	if resp, _ := c.say("GET /7 HTTP/1.1\r\nHost: no.test\r\n\r\n").answer(); resp.StatusCode != 421 || !resp.Close {
		t.Errorf("another host in a tunnel: %d", resp.StatusCode)
	}
}

// Fields go on in their order and spelling, as often as they were sent; what is
// for the proxy alone, and what Connection names, does not.
func TestFieldsGoOn(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	heads := make(chan string, 1)
	l.origin("ok.test", 80, func(c *net.TCPConn) {
		for r := bufio.NewReader(c); ; {
			head, err := rawHead(r)
			if err != nil {
				return
			}
			heads <- head
			io.WriteString(c, whole("ok"))
		}
	})
	l.ask("GET http://OK.test:80/a%2Fb?q HTTP/1.1\r\nX-B: 2\r\nx-a: 1\r\nHost: ok.test:80\r\nCookie: c\r\nX-B: 3\r\ncONNECTION: X-Secret, close\r\nx-sEcret: 4\r\nContent-Length: 0\r\n" +
		"proxy-authorization: Basic eDp5\r\nProxy-Foo: 5\r\nTE: gzip\r\nTrailer: X-B\r\nUpgrade: h2c\r\nlnk-refused: host\r\nEmpty:\r\n\r\n")
	want := "GET /a%2Fb?q HTTP/1.1\r\nHost: ok.test\r\nX-B: 2\r\nx-a: 1\r\nCookie: c\r\nX-B: 3\r\nProxy-Foo: 5\r\nEmpty: \r\n\r\n"
	if got := <-heads; got != want {
		t.Errorf("the host saw %q\nand not       %q", got, want)
	}
}

// What comes before an answer is passed on, with nothing in it that is about a
// body or only for the proxy to say; a flood of it is no answer.
func TestBeforeTheAnswer(t *testing.T) {
	l := newLab(t, hosts("ok.test", "flood.test"))
	l.origin("ok.test", 80, func(c *net.TCPConn) {
		rawHead(bufio.NewReader(c))
		io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\nLnk-Refused: host\r\nConnection: X-Hop\r\nX-Hop: 1\r\n\r\n"+whole("ok"))
	})
	l.origin("flood.test", 80, func(c *net.TCPConn) {
		rawHead(bufio.NewReader(c))
		for {
			if _, err := io.WriteString(c, "HTTP/1.1 103 Early Hints\r\n\r\n"); err != nil {
				return
			}
		}
	})
	c := l.client().say("%s", asked("ok.test", "/"))
	if got, err := rawHead(c.r); err != nil || got != "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" {
		t.Errorf("%q %v", got, err)
	}
	if resp, body := c.answer(); resp.StatusCode != 200 || body != "ok" {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
	c = l.client().say("%s", asked("flood.test", "/"))
	for range 20 {
		resp, err := http.ReadResponse(c.r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode == 502 {
			return
		}
	}
	t.Error("a flood of answers before the answer was passed on")
}
