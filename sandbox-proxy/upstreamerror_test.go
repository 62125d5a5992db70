package proxy_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
)

// logged is the Detail of the only record that there is.
func (l *lab) logged() (detail string) {
	l.t.Helper()
	eventually(l.t, "the call is told of", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.ended) == 0 {
			return false
		}
		last := l.ended[len(l.ended)-1]
		if detail = last.Detail; last.Reason != proxy.Failed || !last.Allowed {
			l.t.Errorf("%+v", last)
		}
		return true
	})
	return detail
}

// What is wrong with an upstream is told as what it is, to the program and in
// the log.
func TestUpstreamSays(t *testing.T) {
	says := func(answer string) func(*net.TCPConn) {
		return func(c *net.TCPConn) {
			if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				io.WriteString(c, answer)
			}
		}
	}
	wants := func(challenges ...string) func(*net.TCPConn) {
		head := "HTTP/1.1 407 No\r\nContent-Length: 0\r\n"
		for _, c := range challenges {
			head += "Proxy-Authenticate: " + c + "\r\n"
		}
		return says(head + "\r\n")
	}
	socks := func(replies ...string) func(*net.TCPConn) {
		return func(c *net.TCPConn) {
			for _, reply := range replies {
				c.Read(make([]byte, 512))
				io.WriteString(c, reply)
			}
		}
	}
	for _, c := range []struct {
		what, scheme, user string
		does               func(*net.TCPConn)
		want               string
	}{
		{"a password, and it has none", "http", "", wants(`Basic realm="x"`), "was given none"},
		{"another password", "http", "user:word", wants(`Basic realm="x"`), "refused the user and password"},
		{"another password, of several ways", "http", "user:word", wants("Negotiate", `Digest realm="x", nonce="y"`, `basic realm="x"`), "refused the user and password"},
		{"Digest alone", "http", "user:word", wants(`Digest realm="basic, x", nonce="y"`), "by Digest, and"},
		{"two ways that are not spoken", "http", "user:word", wants("Negotiate, NTLM"), "by Negotiate or NTLM, and"},
		{"its no", "http", "", says("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"), "refused it (403)"},
		{"another place", "http", "", says("HTTP/1.1 302 Found\r\nLocation: http://evil.test/\r\nContent-Length: 0\r\n\r\n"), "answered 302"},
		{"nothing", "http", "", says(""), "gave no answer, and ended the connection"},
		{"half an answer", "http", "", says("HTTP/1.1 200 OK\r\nX: "), "gave no answer, and ended the connection"},
		{"no HTTP", "http", "", says("SSH-2.0-x\r\n\r\n"), "gave no answer that could be read"},
		{"no TLS", "https", "", says("HTTP/1.1 400 Bad\r\n\r\n"), "TLS failed"},
		{"SOCKS: another password", "socks5", "user:word", socks("\x05\x02", "\x01\x01"), "refused the user and password"},
		{"SOCKS: a password, and it has none", "socks5", "", socks("\x05\xff"), "or wants some"},
		{"SOCKS: its no", "socks5", "", socks("\x05\x00", "\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00"), "the upstream proxy refused it"},
		{"SOCKS: no way", "socks5", "", socks("\x05\x00", "\x05\x04\x00\x01\x00\x00\x00\x00\x00\x00"), "could not reach it"},
		{"SOCKS: nothing", "socks5", "", socks("\x05\x00"), "ended the connection"},
	} {
		t.Run(c.what, func(t *testing.T) {
			up := listen(t)
			serveConns(t, up, c.does)
			l := newLab(t, through(c.scheme, c.user, &far{ln: up}), hosts("ok.test:7"))
			resp, body := l.ask("CONNECT ok.test:7 HTTP/1.1\r\n\r\n")
			if resp.StatusCode != 502 || !strings.Contains(body, c.want) || strings.Contains(body, "word:") {
				t.Errorf("%d %q", resp.StatusCode, body)
			}
			if got := l.logged(); !strings.HasPrefix(got, proxy.UpstreamFailed) || !strings.Contains(body, got) {
				t.Errorf("the log: %q", got)
			}
		})
	}
}

// What an upstream may say before and behind its yes.
func TestUpstreamOddAnswers(t *testing.T) {
	for what, answer := range map[string]string{
		"HTTP/1.0":                 "HTTP/1.0 200 Connection established\r\n\r\n",
		"no reason":                "HTTP/1.1 200\r\n\r\n",
		"a length":                 "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
		"chunked":                  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.0 that is chunked": "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
		"no more after this":       "HTTP/1.1 200 OK\r\nConnection: close\r\nProxy-Connection: close\r\n\r\n",
		"others before it":         "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
		"another success":          "HTTP/1.1 299 Fine\r\n\r\n",
		"a long head":              "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 32<<10) + "\r\n\r\n",
		"bare ends of lines":       "HTTP/1.1 200 OK\nX: y\n\n",
	} {
		for _, pieces := range []int{1, 1 << 20} {
			up := listen(t)
			serveConns(t, up, func(c *net.TCPConn) {
				r := bufio.NewReader(c)
				if _, err := http.ReadRequest(r); err != nil {
					return
				}
				for all := answer + "hello"; all != ""; {
					n := min(len(all), max(pieces, len(all)/64)) // some at once, or all
					io.WriteString(c, all[:n])
					all = all[n:]
				}
				io.Copy(c, r)
			})
			l := newLab(t, through("http", "", &far{ln: up}), hosts("ok.test:7"))
			c := l.client().say("CONNECT ok.test:7 HTTP/1.1\r\n\r\nearly")
			c.CloseWrite()
			if got, err := c.rest(); err != nil || !strings.HasPrefix(got, "HTTP/1.1 200 ") || !strings.HasSuffix(got, "\r\n\r\nhelloearly") {
				t.Errorf("%s in pieces of %d: %q %v", what, pieces, got, err)
			}
		}
	}
}

// A host that answers once on a connection and hears no more of it, without a
// word of that: what cannot be sent again is not sent to it there.
func TestNotSentTwice(t *testing.T) {
	l := newLab(t, hosts("once.test"))
	l.origin("once.test", 80, func(c *net.TCPConn) {
		r := bufio.NewReader(c)
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		body, _ := io.ReadAll(req.Body)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"+string(append(body, "ok"...)[:2]))
		if req, err := http.ReadRequest(r); err == nil && req.Body != nil {
			req.Body.Close()
		}
	})
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "GET"} {
		for _, body := range []string{"", "hi"} {
			l.ask("GET http://once.test/ HTTP/1.1\r\nHost: once.test\r\n\r\n")
			resp, _ := l.ask(method + " http://once.test/ HTTP/1.1\r\nHost: once.test\r\nContent-Length: " + string('0'+rune(len(body))) + "\r\n\r\n" + body)
			if resp.StatusCode != 200 {
				t.Errorf("%s with %q: %d", method, body, resp.StatusCode)
			}
		}
	}
}

// A host whose kept connection is closed, and that is there no more, could not
// be reached: it did not end a connection, and answered nothing.
func TestGoneSinceTheLastAnswer(t *testing.T) {
	l := newLab(t, hosts("gone.test"))
	ln := l.listenAs("gone.test", 80)
	serveConns(t, ln, func(c *net.TCPConn) {
		ln.Close()
		r := bufio.NewReader(c)
		if _, err := http.ReadRequest(r); err == nil {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			http.ReadRequest(r)
		}
	})
	const ask = "GET http://gone.test/ HTTP/1.1\r\nHost: gone.test\r\n\r\n"
	if resp, body := l.ask(ask); resp.StatusCode != 200 || body != "ok" {
		t.Fatalf("%d %q", resp.StatusCode, body)
	}
	if resp, body := l.ask(ask); resp.StatusCode != 502 || !contains(body, "could not be reached") {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
}

// The log says of an answer that its host cut short that it did, and not so of
// one that ended with the proxy.
func TestHalfAnAnswer(t *testing.T) {
	for what, cuts := range map[string]bool{"host": true, "proxy": false} {
		l := newLab(t, hosts("half.test"))
		l.origin("half.test", 80, func(c *net.TCPConn) {
			http.ReadRequest(bufio.NewReader(c))
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
			if !cuts {
				io.Copy(io.Discard, c)
			}
		})
		c := l.client().say("GET http://half.test/ HTTP/1.1\r\nHost: half.test\r\n\r\n")
		for got := ""; !strings.HasSuffix(got, "half"); {
			got += c.read(1)
		}
		if !cuts {
			c.CloseWrite() // it has left, or asks for no more
			l.proxy.Close()
		}
		c.rest()
		eventually(t, "the call is told of", func() bool {
			l.mu.Lock()
			defer l.mu.Unlock()
			return len(l.ended) == 1
		})
		if r := l.ended[0]; !r.Allowed || (r.Reason == proxy.Failed) != cuts || cuts != strings.Contains(r.Detail, "before its answer was whole") {
			t.Errorf("ended by the %s: %q %q", what, r.Reason, r.Detail)
		}
	}
}
