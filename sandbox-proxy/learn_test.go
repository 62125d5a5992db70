package proxy_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// What a call was used for is told by what was said on it, also where the host
// speaks first, and nothing that is said is lost.
func TestLearned(t *testing.T) {
	var mu sync.Mutex
	var all []string
	l := newLab(t, with(func(r *judge.Rules, c *proxy.Config) {
		r.Hosts, r.AnyPort = nil, true
		c.Learned = func(l proxy.Learned) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, fmt.Sprintf("%s:%d %v %d", l.Host, l.Port, l.Literal, l.Spoke))
		}
	}))
	told := func(want string) {
		t.Helper()
		for limit := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
			mu.Lock()
			got := strings.Join(all, ", ")
			mu.Unlock()
			if got == want {
				break
			}
			if time.Now().After(limit) {
				t.Fatalf("told %q, want %q", got, want)
			}
		}
		mu.Lock()
		all = nil
		mu.Unlock()
	}
	echoes := func(c *net.TCPConn) { io.Copy(c, c); c.CloseWrite() }
	for _, port := range []uint16{80, 443, 8443, 22} {
		l.origin("ok.test", port, echoes)
	}
	say := func(target, words string) {
		t.Helper()
		c := l.client()
		fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n%s", target, target, words)
		c.CloseWrite()
		got, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 200") || !strings.HasSuffix(string(got), words) {
			t.Fatalf("%s: %q, %v", target, got, err)
		}
	}
	hello := clientHello(t, "ok.test")
	say("ok.test:443", hello)
	told("ok.test:443 false 1")
	say("ok.test:8443", hello)
	told("ok.test:8443 false 1")
	say("ok.test:443", clientHello(t, "other.test"))
	told("ok.test:443 false 0")
	say("ok.test:443", "SSH-2.0-x\r\n")
	told("ok.test:443 false 0")
	say("ok.test:22", "")
	told("ok.test:22 false 0")
	say("ok.test:80", "GET / HTTP/1.1\r\nHost: ok.test\r\n\r\n")
	told("ok.test:80 false 2")
	say("ok.test:80", "GET / HTTP/1.1\r\nHost: other.test\r\n\r\n")
	told("ok.test:80 false 0")
	say("192.0.2.1:443", hello)
	told("192.0.2.1:443 true 0") // a rule of the address would not open TLS for the name
	say("192.0.2.1:443", clientHello(t, ""))
	told("192.0.2.1:443 true 1")
	l.origin("socket.test", 8080, socketOrigin)
	socket := l.client().say("GET http://socket.test:8080/ws HTTP/1.1\r\nHost: socket.test:8080\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	if resp, err := http.ReadResponse(socket.r, nil); err != nil || resp.StatusCode != 101 {
		t.Fatalf("%v %v", resp, err)
	}
	socket.CloseWrite()
	socket.rest()
	told("socket.test:8080 false 2")
	l.site("site.test", 8080, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hi") })
	if resp, body := l.ask("GET http://site.test:8080/ HTTP/1.1\r\nHost: site.test:8080\r\nConnection: close\r\n\r\n"); resp.StatusCode != 200 || body != "hi" {
		t.Fatalf("%v %q", resp.Status, body)
	}
	told("site.test:8080 false 2")
	// What came to nothing was not used.
	c := l.client()
	fmt.Fprint(c, "CONNECT ok.test:9999 HTTP/1.1\r\nHost: ok.test:9999\r\n\r\n")
	io.ReadAll(c)
	told("")
}

// clientHello is what a TLS client says first.
func clientHello(t *testing.T, name string) string {
	t.Helper()
	a, b := net.Pipe()
	defer b.Close()
	go func() {
		tls.Client(a, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake()
	}()
	buf := make([]byte, 16<<10)
	n, err := b.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n])
}
