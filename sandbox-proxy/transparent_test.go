package proxy_test

import (
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A meant is a listener whose connections say first where they were meant for:
// it stands for what nftables does.
type meant struct {
	net.Listener
	names map[netip.Addr]string
}

type meantConn struct {
	*net.TCPConn
	to netip.AddrPort
}

func (m *meant) Accept() (net.Conn, error) {
	c, err := m.Listener.Accept()
	if err != nil {
		return nil, err
	}
	var to []byte
	for b := make([]byte, 1); ; to = append(to, b[0]) {
		if _, err := c.Read(b); err != nil || b[0] == '\n' {
			break
		}
	}
	at, _ := netip.ParseAddrPort(string(to))
	return &meantConn{c.(*net.TCPConn), at}, nil
}

func (m *meant) name(a netip.Addr) (string, bool) {
	n, ok := m.names[a]
	return n, ok
}

func destination(c net.Conn) (netip.AddrPort, error) {
	to := c.(*meantConn).to
	if !to.IsValid() {
		return to, errors.New("no destination")
	}
	return to, nil
}

// carry serves transparent connections. What call gives is a connection that
// was meant for the address.
func (l *lab) carry(names map[string]string) (call func(to string) *client) {
	l.t.Helper()
	m := &meant{listen(l.t), map[netip.Addr]string{}}
	for a, n := range names {
		m.names[netip.MustParseAddr(a)] = n
	}
	served := make(chan error, 1)
	go func() { served <- l.proxy.ServeTransparent(m, destination, m.name) }()
	l.t.Cleanup(func() {
		l.proxy.Close()
		if err := <-served; err != nil {
			l.t.Errorf("ServeTransparent: %v", err)
		}
	})
	return func(to string) *client { return dialClient(l.t, m.Addr().String()).say("%s\n", to) }
}

// wasReset says whether a connection ends in a reset, and gives nothing.
func (c *client) wasReset() bool {
	got, err := c.rest()
	return got == "" && errors.Is(err, syscall.ECONNRESET)
}

func TestTransparent(t *testing.T) {
	l := newLab(t, hosts("ok.test", "ok.test:7", "192.0.2.200"), tcp("db.test:5432", "db.test:443", "db.test:80"))
	l.origin("ok.test", 7, echo)
	l.origin("db.test", 5432, echo)
	l.origin("db.test", 443, echo)
	l.origin("db.test", 80, echo)
	call := l.carry(map[string]string{"198.18.0.1": "ok.test", "198.18.0.2": "evil.test", "198.18.0.3": "db.test", "fd00:5::1": "db.test"})
	for _, to := range []string{"198.18.0.1:7", "198.18.0.3:5432", "[fd00:5::1]:5432", "198.18.0.3:443", "198.18.0.3:80", "[::ffff:198.18.0.3]:80"} {
		c := call(to).say("hello")
		c.CloseWrite()
		if got, err := c.rest(); got != "helloBYE" || err != nil {
			t.Errorf("%s: %q %v", to, got, err)
		}
	}
	for _, to := range []string{"198.18.0.1:22", "198.18.0.2:443", "198.18.0.2:80", "198.18.0.9:443", "192.0.2.1:443", "192.0.2.200:22", "10.0.0.1:80", "127.0.0.1:80", "0.0.0.0:80", "nowhere", "198.18.0.3:0"} {
		if c := call(to); !c.wasReset() {
			t.Errorf("%s is not reset", to)
		}
	}
}

// At 80 what is said must be http for the host, request by request, on a
// connection that was carried and in a tunnel alike.
func TestInsideHTTP(t *testing.T) {
	l := newLab(t, hosts("ok.test", "other.test", "192.0.2.200"))
	l.site("ok.test", 80, headers)
	l.site("other.test", 80, headers)
	l.name("192.0.2.200", "192.0.2.200")
	l.site("192.0.2.200", 80, headers)
	carried := l.carry(map[string]string{"198.18.0.1": "ok.test"})
	ways := map[string]func() *client{
		"carried": func() *client { return carried("198.18.0.1:80") },
		"connect": func() *client { return l.connect("ok.test:80") },
		"socks":   func() *client { _, c := l.socks(socksCall(3, "ok.test", 80)); return c },
	}
	for name, way := range ways {
		c := way()
		for _, host := range []string{"ok.test", "OK.test.", "ok.test:80"} {
			resp, body := c.say("GET /x HTTP/1.1\r\nHost: %s\r\nProxy-Authorization: Basic eDp5\r\n\r\n", host).answer()
			if resp.StatusCode != 200 || !strings.HasPrefix(body, "GET /x ok.test\nbody 0") {
				t.Errorf("%s, Host %s: %d %q", name, host, resp.StatusCode, body)
			}
		}
		if resp, body := c.say("GET http://ok.test/y HTTP/1.1\r\nHost: ok.test\r\n\r\n").answer(); resp.StatusCode != 200 || !strings.HasPrefix(body, "GET /y ok.test\n") {
			t.Errorf("%s: %d %q", name, resp.StatusCode, body)
		}
		for raw, want := range map[string]int{
			"GET / HTTP/1.1\r\nHost: other.test\r\n\r\n":                      421,
			"GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n":                       421,
			"GET / HTTP/1.1\r\nHost: ok.test:8080\r\n\r\n":                    421,
			"GET / HTTP/1.1\r\nHost: ok.test@evil.test\r\n\r\n":               400,
			"GET / HTTP/1.1\r\nHost: \r\n\r\n":                                400,
			"GET / HTTP/1.1\r\n\r\n":                                          400,
			"GET http://other.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n":     421,
			"GET http://ok.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n":        400,
			"CONNECT ok.test:80 HTTP/1.1\r\nHost: ok.test:80\r\n\r\n":         400,
			"GET / HTTP/1.1\nHost: ok.test\n\n":                               400,
			"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n":                                505,
			"\x16\x03\x01\x02\x00\r\n\r\n":                                    400,
			"GET / HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding: x\r\n\r\n": 501,
		} {
			resp, body := way().say("%s", raw).answer()
			if resp.StatusCode != want {
				t.Errorf("%s, %q: %d %q, want %d", name, raw, resp.StatusCode, body, want)
			}
		}
		// The second request on a connection is held to the host like the first.
		c = way()
		c.say("GET / HTTP/1.1\r\nHost: ok.test\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: other.test\r\n\r\n")
		c.answer()
		if resp, _ := c.answer(); resp.StatusCode != 421 {
			t.Errorf("%s: second request: %d", name, resp.StatusCode)
		}
		way().Close() // and nothing asked
	}
	// Named by its address: the Host is the address or a host the rules name.
	for host, want := range map[string]int{"192.0.2.200": 200, "ok.test": 200, "evil.test": 421} {
		resp, body := carried("192.0.2.200:80").say("GET /z HTTP/1.1\r\nHost: %s\r\n\r\n", host).answer()
		if resp.StatusCode != want || want == 200 && !strings.HasPrefix(body, "GET /z "+host+"\n") {
			t.Errorf("by address, Host %s: %d %q", host, resp.StatusCode, body)
		}
	}
	for _, d := range l.dials() {
		if d == "192.0.2.2:80" {
			t.Error("the other host was dialled")
		}
	}
}

// At 443 what is said must be TLS, and its server name, where there is one,
// the host.
func TestInsideTLS(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "secure") }))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	l := newLab(t, hosts("ok.test", "other.test", "192.0.2.200"), tcp("raw.test:443"))
	l.origin("raw.test", 443, echo)
	forward := func(c *net.TCPConn) {
		far, err := net.Dial("tcp", secure.Listener.Addr().String())
		if err != nil {
			return
		}
		defer far.Close()
		go func() { io.Copy(far, c); far.(*net.TCPConn).CloseWrite() }()
		io.Copy(c, far)
	}
	l.origin("ok.test", 443, forward)
	l.name("192.0.2.200", "192.0.2.200")
	l.origin("192.0.2.200", 443, forward)
	carried := l.carry(map[string]string{"198.18.0.1": "ok.test"})
	ways := map[string]func() *client{
		"carried": func() *client { return carried("198.18.0.1:443") },
		"connect": func() *client { return l.connect("ok.test:443") },
		"socks":   func() *client { _, c := l.socks(socksCall(3, "ok.test", 443)); return c },
	}
	shake := func(c net.Conn, name string) error {
		tc := tls.Client(c, &tls.Config{ServerName: name, InsecureSkipVerify: true})
		tc.SetDeadline(time.Now().Add(patience))
		return tc.Handshake()
	}
	for name, way := range ways {
		for sni, want := range map[string]bool{"ok.test": true, "OK.TEST": true, "": true, "127.0.0.1": true, "other.test": false, "evil.test": false, "a.ok.test": false, "ok.test.evil.test": false} {
			if err := shake(way(), sni); (err == nil) != want {
				t.Errorf("%s, server name %q: %v", name, sni, err)
			}
		}
		for _, said := range []string{"SSH-2.0-x\r\n", "GET / HTTP/1.1\r\nHost: ok.test\r\n\r\n", "\x17\x03\x03\x00\x01a", "\x16\x03\x01\x00\x00"} {
			got, _ := way().say("%s", said).rest()
			want := "\x15\x03\x03\x00\x02\x02\x31"
			if name == "carried" {
				want = ""
			}
			if got != want {
				t.Errorf("%s, %q: %q", name, said, got)
			}
		}
		// A hello in many small pieces is read all the same.
		if err := shake(&slowWriter{way().TCPConn}, "ok.test"); err != nil {
			t.Errorf("%s, in pieces: %v", name, err)
		}
	}
	told := len(l.refused)
	for _, way := range ways { // connected ahead of need, and not needed
		c := way()
		c.CloseWrite()
		if got, _ := c.rest(); got != "" || len(l.refused) != told {
			t.Errorf("said nothing and got %q, told %d", got, len(l.refused)-told)
		}
	}
	for sni, want := range map[string]bool{"ok.test": true, "": true, "evil.test": false} {
		if err := shake(carried("192.0.2.200:443"), sni); (err == nil) != want {
			t.Errorf("by address, server name %q: %v", sni, err)
		}
	}
	c := l.connect("raw.test:443").say("SSH")
	if c.read(3) != "SSH" {
		t.Error("tcp at 443 is not any protocol")
	}
	all := ""
	for _, r := range l.refused {
		all += r.Error() + "\n"
	}
	if !contains(all, "refused ok.test:443: the TLS server name is ") && !contains(all, "refused ok.test:443: what was said is not") {
		t.Errorf("told %q", all)
	}
}

type slowWriter struct{ net.Conn }

func (s *slowWriter) Write(b []byte) (int, error) {
	for i := range b {
		if _, err := s.Conn.Write(b[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(b), nil
}

// Calls that were refused without the proxy are told with the judge's reason.
func TestTellUnnamed(t *testing.T) {
	l := newLab(t, hosts("192.0.2.1"), tcp("192.0.2.2:22"))
	all := []string{"192.0.2.9:443", "192.0.2.2:23", "192.0.2.1:443", "169.254.169.254:80", "[2001:db8::1]:80", "192.0.2.9:443"}
	l.proxy.TellUnnamed(func() (to netip.AddrPort, err error) {
		if len(all) == 0 {
			return to, io.EOF
		}
		to, all = netip.MustParseAddrPort(all[0]), all[1:]
		return to, nil
	})
	got := ""
	for _, r := range l.refused {
		got += string(r.By) + " " + r.Target() + " " + string(r.Reason) + " " + r.Open.Flag + "\n"
	}
	if want := `transparent 192.0.2.9:443 host --internet-host 192.0.2.9
transparent 192.0.2.2:23 port --tcp 192.0.2.2:23
transparent 169.254.169.254:80 address ` + `
transparent [2001:db8::1]:80 host --internet-host [2001:db8::1]
`; got != want {
		t.Errorf("told\n%swant\n%s", got, want)
	}
}
