package proxy_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// socketOrigin agrees to websockets, says hi at once, and echoes. Other
// requests it answers with what it saw.
func socketOrigin(c *net.TCPConn) {
	r := bufio.NewReader(c)
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		if req.Header.Get("Upgrade") == "websocket" && req.URL.Path == "/ws" {
			io.WriteString(c, "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\nKeep-Alive: 1\r\n\r\nhi")
			io.Copy(c, r)
			return
		}
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"+map[bool]string{true: "plain", false: "asked"}[req.Header.Get("Upgrade") == ""])
	}
}

func TestWebsocket(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.origin("ok.test", 80, socketOrigin)
	for _, connection := range []string{"Upgrade", "keep-alive, upgrade", "keep-alive\r\nConnection: Upgrade"} {
		c := l.client().say("GET http://ok.test/ws HTTP/1.1\r\nHost: ok.test\r\nConnection: %s\r\nUpgrade: WebSocket\r\nSec-WebSocket-Key: x\r\n\r\nfirst frame", connection)
		resp, err := http.ReadResponse(c.r, nil)
		if err != nil || resp.StatusCode != 101 || resp.Header.Get("Upgrade") != "websocket" || resp.Header.Get("Connection") != "Upgrade" || resp.Header.Get("Keep-Alive") != "" {
			t.Fatalf("%s: %v %v", connection, resp, err)
		}
		if got := c.read(13); got != "hifirst frame" {
			t.Errorf("%q", got)
		}
		if got := c.say("ping").read(4); got != "ping" {
			t.Errorf("%q", got)
		}
		c.CloseWrite()
		if rest, err := c.rest(); rest != "" || err != nil {
			t.Errorf("%q %v", rest, err)
		}
	}
}

// What is not a websocket is not carried as one: h2c would hide what comes
// after it.
func TestUpgrades(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.origin("ok.test", 80, socketOrigin)
	for head, want := range map[string]string{
		"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n": "plain",
		"Connection: Upgrade\r\nUpgrade: websocket, h2c\r\n":                              "plain",
		"Connection: Upgrade\r\nUpgrade: websocket\r\nUpgrade: h2c\r\n":                   "plain",
		"Connection: Upgrade\r\nUpgrade: TLS/1.0\r\n":                                     "plain",
		"Connection: Upgrade\r\nUpgrade: websocket\r\n":                                   "asked", // and not agreed to
	} {
		c := l.client().say("GET http://ok.test/other HTTP/1.1\r\nHost: ok.test\r\n%s\r\n", head)
		resp, body := c.answer()
		if resp.StatusCode != 200 || body != want {
			t.Errorf("%q: %d %q", head, resp.StatusCode, body)
		}
		if want == "asked" && !resp.Close {
			t.Errorf("%q: the connection goes on", head)
		}
		if want == "plain" {
			if resp, _ := c.say("GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n").answer(); resp.StatusCode != 403 {
				t.Errorf("%q: then %d", head, resp.StatusCode)
			}
		}
	}
	// A websocket in name only: without Connection it is no upgrade, and the
	// bytes behind it are no request.
	c := l.client().say("GET http://ok.test/ws HTTP/1.1\r\nHost: ok.test\r\nUpgrade: websocket\r\n\r\nGET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n")
	c.CloseWrite()
	if all, _ := c.rest(); !strings.HasPrefix(all, "HTTP/1.1 200") || strings.Count(all, "HTTP/1.1") > 2 || strings.Contains(all, "evil.test") && !strings.Contains(all, "403") {
		t.Errorf("%q", all)
	}
}

func TestWebsocketRefused(t *testing.T) {
	l := newLab(t, hosts("ok.test", "gone.test"))
	l.name("gone.test", "192.0.2.99")
	for host, want := range map[string]int{"evil.test": 403, "gone.test": 502} {
		c := l.client().say("GET http://%s/ws HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nframe", host, host)
		if resp, _ := c.answer(); resp.StatusCode != want || !resp.Close {
			t.Errorf("%s: %d, close %v", host, resp.StatusCode, resp.Close)
		}
	}
}

// In a tunnel to port 80, and on a carried connection, too.
func TestInsideWebsocket(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.origin("ok.test", 80, socketOrigin)
	carried := l.carry(map[string]string{"198.18.0.1": "ok.test"})
	for name, c := range map[string]*client{"connect": l.connect("ok.test:80"), "carried": carried("198.18.0.1:80")} {
		c.say("GET /ws HTTP/1.1\r\nHost: ok.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nframe")
		resp, err := http.ReadResponse(c.r, nil)
		if err != nil || resp.StatusCode != 101 {
			t.Fatalf("%s: %v %v", name, resp, err)
		}
		if got := c.read(7); got != "hiframe" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A request for a websocket is held in a pause and counted as any other is,
// whether the host agrees or answers with something else, and also where the
// connection is one that was there before the pause.
func TestUpgradeIsHeldAndCounted(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	asked, more := make(chan struct{}, 4), make(chan struct{}, 4)
	const head, body = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "beginmore"
	l.origin("ok.test", 80, func(c *net.TCPConn) {
		r := bufio.NewReader(c)
		if _, err := http.ReadRequest(r); err != nil {
			return
		}
		asked <- struct{}{}
		io.WriteString(c, head+body[:5])
		<-more
		io.WriteString(c, body[5:])
	})
	const request = "GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
	c := l.client().say(request)
	resp, err := http.ReadResponse(c.r, nil)
	if err != nil || resp.StatusCode != 200 {
		t.Fatal(resp, err)
	}
	io.ReadFull(resp.Body, make([]byte, 5))
	<-asked
	there := l.connect("ok.test:80")
	l.proxy.Pause("")
	more <- struct{}{}
	there.say(strings.Replace(request, "http://ok.test", "", 1))
	c.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	if b, err := c.r.Peek(1); err == nil {
		t.Errorf("%q came through a pause", b)
	}
	select {
	case <-asked:
		t.Error("a host was asked in a pause")
	default:
	}
	l.proxy.Resume()
	c.SetReadDeadline(time.Now().Add(patience))
	if rest, err := io.ReadAll(resp.Body); string(rest) != body[5:] || err != nil {
		t.Errorf("%q %v", rest, err)
	}
	more <- struct{}{}
	if _, got := there.answer(); got != body {
		t.Errorf("%q", got)
	}
	if up, down := l.proxy.Carried(); up < 2*uint64(len("GET / HTTP/1.1\r\nHost: ok.test\r\n\r\n")) || down != 2*uint64(len(head+body)) {
		t.Errorf("counted %d up and %d down", up, down)
	}
}

func TestWebsocketIsCounted(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	const agreed, said = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", "from the host"
	request := make(chan int, 1)
	l.origin("ok.test", 80, func(c *net.TCPConn) {
		b := make([]byte, 4096)
		n, _ := c.Read(b)
		request <- n
		io.WriteString(c, agreed+said)
		io.ReadFull(c, b[:5])
		io.WriteString(c, said)
	})
	c := l.client().say("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nframe")
	if all, err := c.rest(); !strings.HasSuffix(all, said+said) || err != nil {
		t.Errorf("%q %v", all, err)
	}
	n := uint64(<-request)
	eventually(t, "all is counted", func() bool {
		up, down := l.proxy.Carried()
		return up == n+5 && down == uint64(len(agreed+said+said))
	})
}
