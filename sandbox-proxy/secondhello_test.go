package proxy_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// hi is what a TLS client says first to a server.
func hi(t *testing.T, server string) []byte {
	t.Helper()
	a, b := net.Pipe()
	defer a.Close()
	go func() {
		tls.Client(b, &tls.Config{ServerName: server, InsecureSkipVerify: server == ""}).Handshake()
		b.Close()
	}()
	buf := make([]byte, 16<<10)
	n, err := a.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return buf[:n]
}

// A hello that a server asked for once more names the same server, or it does
// not come to it: not whole, and in no pieces.
func TestSecondHello(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	var mu sync.Mutex
	var got []byte
	l.origin("ok.test", 443, func(c *net.TCPConn) {
		buf := make([]byte, 32<<10)
		for {
			n, err := c.Read(buf)
			mu.Lock()
			got = append(got, buf[:n]...)
			mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	carried := l.carry(map[string]string{"198.18.0.1": "ok.test"})
	ways := map[string]func() *client{
		"carried": func() *client { return carried("198.18.0.1:443") },
		"connect": func() *client { return l.connect("ok.test:443") },
		"socks":   func() *client { _, c := l.socks(socksCall(3, "ok.test", 443)); return c },
	}
	first, other := hi(t, "ok.test"), hi(t, "evil.test")
	for name, way := range ways {
		for what, pieces := range map[string][][]byte{
			"at once":        {append(bytes.Clone(first), other...)},
			"after it":       {first, other},
			"in two parts":   {first, other[:40], other[40:]},
			"behind ciphers": {first, {20, 3, 3, 0, 1, 1}, other},
			"after none":     {hi(t, ""), other},
		} {
			mu.Lock()
			got = nil
			mu.Unlock()
			c := way()
			whole := 0
			for i, piece := range pieces {
				c.Write(piece)
				if whole += len(piece); i == len(pieces)-1 {
					break
				}
				eventually(t, what+": what came before is there", func() bool {
					mu.Lock()
					defer mu.Unlock()
					return len(got) == whole
				})
			}
			if rest, _ := c.rest(); len(rest) > 0 {
				t.Errorf("%s, %s: answered %q", name, what, rest)
			}
			mu.Lock()
			if bytes.Contains(got, other[len(other)-20:]) || bytes.Contains(got, other[:60]) {
				t.Errorf("%s, %s: it came to the host", name, what)
			}
			mu.Unlock()
		}
	}
	eventually(t, "the calls are over", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		cut := 0
		for _, r := range l.ended {
			if r.Allowed && r.Reason == "protocol" && r.Detail == "the TLS server name is evil.test, which is not the host that was asked for" {
				cut++
			}
		}
		return cut == 15
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.refused) != 1 || l.refused[0].Target() != "ok.test:443" || l.refused[0].Reason != "protocol" {
		t.Errorf("told %v", l.refused)
	}
}

// A client that a server asks once more, since it offered no key that it takes,
// is served.
func TestHelloRetried(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "secure") }))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	asked := 0
	secure.TLS = &tls.Config{CurvePreferences: []tls.CurveID{tls.CurveP384}}
	secure.StartTLS()
	defer secure.Close()
	l := newLab(t, hosts("ok.test"))
	l.origin("ok.test", 443, func(c *net.TCPConn) {
		far, err := net.Dial("tcp", secure.Listener.Addr().String())
		if err != nil {
			return
		}
		defer far.Close()
		go func() { io.Copy(far, c); far.(*net.TCPConn).CloseWrite() }()
		io.Copy(c, far)
	})
	for range 2 {
		c := l.connect("ok.test:443")
		tc := tls.Client(c.TCPConn, &tls.Config{
			ServerName: "ok.test", InsecureSkipVerify: true, CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP384},
			VerifyConnection: func(s tls.ConnectionState) error {
				if s.HelloRetryRequest {
					asked++
				}
				return nil
			},
		})
		tc.SetDeadline(time.Now().Add(patience))
		io.WriteString(tc, "GET / HTTP/1.1\r\nHost: ok.test\r\nConnection: close\r\n\r\n")
		if b, err := io.ReadAll(tc); err != nil || !bytes.HasSuffix(b, []byte("secure")) {
			t.Errorf("%q, %v", b, err)
		}
	}
	if asked != 2 {
		t.Errorf("asked once more %d times", asked)
	}
}
