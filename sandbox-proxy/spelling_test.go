package proxy_test

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
)

// rawHead reads a head as it comes.
func rawHead(r *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		line, err := r.ReadString('\n')
		b.WriteString(line)
		if err != nil || line == "\r\n" {
			return b.String(), err
		}
	}
}

// Names of fields are written as they came, both ways, on kept connections and
// as a websocket begins, and what is for one hop does not go on under any name.
func TestNamesOfFields(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	asked := make(chan string, 1)
	const fields = "X-JNLP-Port: 1\r\netag: 2\r\nx-a: 3\r\nX-A: 4\r\nkeep-alive: 5\r\nX-Hop: 6\r\nlnk-refused: 7\r\ndate: 8\r\ncontent-type: 9\r\n"
	l.origin("ok.test", 80, func(c *net.TCPConn) {
		for o := bufio.NewReader(c); ; {
			head, err := rawHead(o)
			if err != nil {
				return
			}
			asked <- head
			switch {
			case strings.Contains(head, "Upgrade"):
				io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\nsec-websocket-protocol: y\r\n\r\n")
			case strings.Contains(head, "/last"):
				io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close, X-Hop\r\n"+fields+"content-length: 2\r\n\r\nok")
				return
			default:
				io.WriteString(c, "HTTP/1.1 103 Early Hints\r\nx-early: 1\r\n\r\nHTTP/1.1 200 OK\r\nConnection: keep-alive\r\nConnection: X-Hop\r\n"+fields+"content-length: 2\r\n\r\nok")
			}
		}
	})
	c := l.client()
	hold := func(where, head string, has ...string) {
		t.Helper()
		for _, line := range has {
			if !strings.Contains(head, "\r\n"+line+"\r\n") {
				t.Errorf("%s: no %q in %q", where, line, head)
			}
		}
		for _, not := range []string{"x-hop", "lnk-refused", "keep-alive", "go-http-client"} {
			if strings.Contains(strings.ToLower(head), not) {
				t.Errorf("%s: %q in %q", where, not, head)
			}
		}
	}
	for _, path := range []string{"/one", "/two", "/last", "/last"} {
		c.say("GET http://ok.test%s HTTP/1.1\r\nhost: ok.test\r\nX-API-KEY: 1\r\nuser-agent: mine\r\nx-b: 2\r\nx-B: 3\r\nConnection: keep-alive, x-HOP\r\nX-Hop: 4\r\nproxy-authorization: Basic eDp4\r\nlnk-refused: 5\r\n\r\n", path)
		hold("asked "+path, <-asked, "Host: ok.test", "X-API-KEY: 1", "user-agent: mine", "x-b: 2", "x-B: 3")
		head, err := rawHead(c.r)
		if strings.HasPrefix(head, "HTTP/1.1 103") {
			head, err = rawHead(c.r)
		}
		if body := c.read(2); err != nil || body != "ok" {
			t.Fatalf("%s: %v, %q", path, err, body)
		}
		hold("answered "+path, head, "X-JNLP-Port: 1", "etag: 2", "x-a: 3", "x-a: 4", "date: 8", "content-type: 9", "Content-Length: 2")
	}
	c.say("GET http://ok.test/ws HTTP/1.1\r\nHost: ok.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n")
	hold("asked for a websocket", <-asked, "Sec-WebSocket-Key: x")
	head, err := rawHead(c.r)
	if err != nil {
		t.Fatal(err)
	}
	hold("a websocket", head, "Sec-WebSocket-Accept: x", "sec-websocket-protocol: y", "Upgrade: websocket")
}
