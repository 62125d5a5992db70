package proxy_test

import (
	"bufio"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// A secureSite is a host of https: its certificate is for example.com and for
// names below it.
func secureSite(t *testing.T, h http.HandlerFunc) (at string, roots *x509.CertPool) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	roots = x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s.Listener.Addr().String(), roots
}

// place has a name's port be somewhere that listens already.
func (l *lab) place(name string, port uint16, at string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.names[name]) == 0 {
		l.hosts++
		l.names[name] = []netip.Addr{netip.AddrFrom4([4]byte{192, 0, 2, l.hosts})}
	}
	for _, a := range l.names[name] {
		l.places[netip.AddrPortFrom(a, port)] = at
	}
}

// A client that asks for https as for http, with no CONNECT, is carried in TLS
// that the proxy opens, to the host that its rule names and that shows a
// certificate, and nowhere else.
func TestHTTPSWithoutConnect(t *testing.T) {
	at, roots := secureSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["x-Served-Over"] = []string{r.TLS.ServerName}
		headers(w, r)
	})
	l := newLab(t, hosts("example.com", "other.test", "plain.test", "www.example.com"), with(func(r *judge.Rules, c *proxy.Config) {
		c.Roots = roots
		r.TCP = []string{"www.example.com:80", "plain.test:443"}
	}))
	l.place("example.com", 443, at)
	l.place("example.com", 80, at)
	l.place("www.example.com", 80, at)
	l.place("other.test", 443, at) // whose certificate is another's
	l.site("plain.test", 443, headers)
	for _, c := range []struct {
		raw    string
		status int
		has    string
	}{
		{"GET https://example.com/a%2fb?c HTTP/1.1\r\nHost: example.com\r\nX-Own: 1\r\nProxy-Authorization: x\r\n\r\n", 200, "GET /a%2fb?c example.com\n"},
		{"GET HTTPS://EXAMPLE.com.:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n", 200, "GET / example.com\n"},
		{"GET https://example.com/ HTTP/1.0\r\n\r\n", 200, "GET / example.com\n"},
		{"POST https://example.com/ HTTP/1.1\r\nHost: example.com\r\nContent-Length: 3\r\n\r\nabc", 200, "body 3 "},
		{"POST https://example.com/ HTTP/1.1\r\nHost: example.com\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 200, "body 3 "},
		{"GET https://www.example.com:80/ HTTP/1.1\r\nHost: www.example.com:80\r\n\r\n", 200, "GET / www.example.com:80\n"},
		{"GET http://plain.test:443/ HTTP/1.1\r\nHost: plain.test:443\r\n\r\n", 200, "GET / plain.test:443\n"},
		{"GET https://example.com/ HTTP/1.1\r\nHost: evil.test\r\n\r\n", 400, "a Host that is not the target"},
		{"GET https://example.com/ HTTP/1.1\r\nHost: example.com:80\r\n\r\n", 400, "a Host that is not the target"},
		{"GET https://u:p@example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 400, "a user or password"},
		{"GET https://example.com/ HTTP/1.1\r\nHost: example.com\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n", 400, "use CONNECT"},
		{"GET wss://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 400, "use CONNECT"},
		{"GET https://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n", 403, "--internet-host evil.test"},
		{"GET https://example.com:8443/ HTTP/1.1\r\nHost: example.com:8443\r\n\r\n", 403, "--tcp example.com:8443"},
		{"GET https://example.com:80/ HTTP/1.1\r\nHost: example.com:80\r\n\r\n", 403, "at 80 hosts opens http only; to open it: tcp = [\"example.com:80\"] or --tcp example.com:80"},
		{"GET http://example.com:443/ HTTP/1.1\r\nHost: example.com:443\r\n\r\n", 403, "at 443 hosts opens TLS only; to open it: tcp = [\"example.com:443\"] or --tcp example.com:443"},
		{"GET https://other.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n", 502, "certificate"},
		{"GET https://plain.test/ HTTP/1.1\r\nHost: plain.test\r\n\r\n", 502, "could not be reached over TLS"},
	} {
		resp, body := l.ask(c.raw)
		if resp.StatusCode != c.status || !strings.Contains(body, c.has) {
			t.Errorf("%.70q: %d %q, want %d and %q", c.raw, resp.StatusCode, body, c.status, c.has)
		}
		if strings.Contains(body, "Proxy-Authorization") || resp.StatusCode == 200 && strings.Contains(c.raw, "https://example") && resp.Header.Get("X-Served-Over") != "example.com" {
			t.Errorf("%.70q: %v %q", c.raw, resp.Header, body)
		}
	}
	// Each request of a connection is held to it by itself, and names of fields
	// are as they were in TLS too.
	c := l.client()
	for range 3 {
		c.say("GET https://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n")
		if head, err := rawHead(c.r); err != nil || !strings.Contains(head, "\r\nx-Served-Over: example.com\r\n") {
			t.Fatalf("%q %v", head, err)
		} else if resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(head)), nil); err == nil {
			c.read(int(resp.ContentLength))
		}
	}
	if resp, _ := c.say("GET https://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n").answer(); resp.StatusCode != 403 {
		t.Errorf("then %d", resp.StatusCode)
	}
	// Inside a tunnel to a host's port 80 it is not understood.
	c = l.connect("example.com:80")
	if resp, _ := c.say("GET https://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n").answer(); resp.StatusCode != 400 {
		t.Errorf("in a tunnel: %d", resp.StatusCode)
	}
}

// What this machine does not trust is not asked, and what is learned of such a
// call is TLS.
func TestHTTPSWithoutConnectElsewhere(t *testing.T) {
	asked := make(chan string, 8)
	at, roots := secureSite(t, func(w http.ResponseWriter, r *http.Request) { asked <- r.Host })
	const raw = "GET https://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n"

	l := newLab(t, hosts("example.com"))
	l.place("example.com", 443, at)
	if resp, body := l.ask(raw); resp.StatusCode != 502 || !strings.Contains(body, "this machine trusts") || len(asked) > 0 {
		t.Errorf("untrusted: %d %q, asked %d", resp.StatusCode, body, len(asked))
	}

	learned := make(chan proxy.Learned, 8)
	l = newLab(t, with(func(r *judge.Rules, c *proxy.Config) {
		r.Hosts, r.AnyPort, c.Roots, c.Learned = nil, true, roots, func(l proxy.Learned) { learned <- l }
	}))
	l.place("example.com", 443, at)
	if resp, body := l.ask(raw); resp.StatusCode != 200 {
		t.Fatalf("%d %q", resp.StatusCode, body)
	}
	if u := <-learned; fmt.Sprint(u.Host, u.Port, u.Spoke) != fmt.Sprint("example.com", 443, judge.TLS) {
		t.Errorf("learned %+v", u)
	}

	f := newFar(t, "u:p")
	l = newLab(t, hosts("example.com"), through("http", "u:p", f), with(func(_ *judge.Rules, c *proxy.Config) { c.Roots = roots }))
	l.name("example.com", "192.0.2.1")
	if resp, _ := l.ask(raw); resp.StatusCode != 502 || !strings.HasPrefix(f.saw(), "CONNECT example.com:443 ") || strings.Contains(f.saw(), "GET") {
		t.Errorf("by an upstream: %d, it saw %q", resp.StatusCode, f.saw())
	}
}

// TLS to an address for a name that no rule has is refused with what would open
// it, and opened by that.
func TestServerNameOfAnAddress(t *testing.T) {
	for _, named := range []string{"192.0.2.9", "www.test"} {
		l := newLab(t, hosts("192.0.2.9", named))
		l.name("far.test", "192.0.2.9")
		l.origin("far.test", 443, func(c *net.TCPConn) { io.Copy(c, c); c.CloseWrite() })
		hello := clientHello(t, "www.test")
		c := l.connect("192.0.2.9:443").say("%s", hello)
		c.CloseWrite()
		got, _ := c.rest()
		if opened := got == hello; opened != (named == "www.test") {
			t.Errorf("%s named: %d bytes come back", named, len(got))
		}
		l.proxy.Close() // all is told of then
		l.mu.Lock()
		for _, r := range l.refused {
			if r.Open.Flag != "--internet-host www.test" || r.Reason != proxy.Protocol {
				t.Errorf("refused: %v", r)
			}
		}
		if len(l.refused) == 0 != (named == "www.test") {
			t.Errorf("%s named: %d refused", named, len(l.refused))
		}
		l.mu.Unlock()
	}
}

// A call that was let through and is connected in a pause says nothing before it
// is over, and a stop ends it then too.
func TestConnectedInPause(t *testing.T) {
	const nothing, hello = -1, 22
	heard := make(chan int, 1)
	l := newLab(t, hosts("ok.test"))
	l.origin("ok.test", 443, func(c *net.TCPConn) {
		b := make([]byte, 1)
		if n, _ := c.Read(b); n == 0 {
			heard <- nothing
		} else {
			heard <- int(b[0])
		}
	})
	for _, stops := range []bool{true, false} {
		l.pauseAt.Store(true)
		c := l.client().say("GET https://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nConnection: close\r\n\r\n")
		eventually(t, "it is paused", func() bool { return !l.pauseAt.Load() })
		select {
		case b := <-heard:
			t.Errorf("the host heard %d in a pause", b)
		case <-time.After(100 * time.Millisecond):
		}
		want := hello
		if stops {
			want = nothing
			l.proxy.Stop("")
		} else {
			l.proxy.Resume()
		}
		c.rest() // its end is seen
		if b := <-heard; b != want {
			t.Errorf("stopped %v: the host heard %d, want %d", stops, b, want)
		}
		l.proxy.Resume()
	}
}
