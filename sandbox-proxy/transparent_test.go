package proxy_test

import (
	"crypto/tls"
	"errors"
	"fmt"
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

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
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

// HTTP/2 without TLS at 80 is answered in HTTP/1.1, by which its clients know at
// once that it comes to nothing, and what carries it is said.
func TestPrefaceAt80(t *testing.T) {
	for name, way := range map[string]func(l *lab) *client{
		"carried": func(l *lab) *client { return l.carry(map[string]string{"198.18.0.1": "ok.test"})("198.18.0.1:80") },
		"connect": func(l *lab) *client { return l.connect("ok.test:80") },
	} {
		l := newLab(t, hosts("ok.test"))
		l.site("ok.test", 80, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("asked for %s", r.URL) })
		resp, body := way(l).say("%s", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").answer()
		if resp.StatusCode != 505 || !contains(body, "ok.test:80: HTTP/2 without TLS", "--tcp ok.test:80") {
			t.Errorf("%s: %d %q", name, resp.StatusCode, body)
		}
		l.mu.Lock()
		if told := fmt.Sprint(l.refused); len(l.refused) != 1 || !contains(told, "--tcp ok.test:80") {
			t.Errorf("%s: told %s", name, told)
		}
		l.mu.Unlock()
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
	l.proxy.TellUnnamed(these(&all))
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

// these are calls as they are told, a datagram's with udp in front.
func these(all *[]string) func() (netip.AddrPort, bool, error) {
	return func() (to netip.AddrPort, udp bool, err error) {
		if len(*all) == 0 {
			return to, false, io.EOF
		}
		s, udp := strings.CutPrefix((*all)[0], "udp ")
		*all = (*all)[1:]
		return netip.MustParseAddrPort(s), udp, nil
	}
}

// Datagrams are told once a destination, by its name where it has one. Those
// that are of no use to their owner stand in the log alone, and a flood of them
// hides no refused connection.
func TestTellDatagrams(t *testing.T) {
	l := newLab(t, hosts("ok.test"), with(func(_ *judge.Rules, c *proxy.Config) {
		c.Name = func(a netip.Addr) (string, bool) { return "ok.test", a == netip.MustParseAddr("198.18.0.9") }
	}))
	all := []string{
		"udp 192.0.2.9:123", "udp 192.0.2.9:123", "192.0.2.9:123", "udp 198.18.0.9:443", "udp 198.18.0.9:3478", "udp [2001:db8::1]:853",
		"udp 224.0.0.251:5353", "udp [ff02::fb]:5353", "udp 255.255.255.255:68",
	}
	for port := range 2000 {
		all = append(all, fmt.Sprintf("udp 192.0.2.10:%d", 10000+port))
	}
	all = append(all, "192.0.2.11:22", "udp 192.0.2.9:123")
	l.proxy.TellUnnamed(these(&all))
	got := ""
	for _, r := range l.refused {
		got += strings.TrimPrefix(r.Error(), "lnk sandbox web: ") + "\n"
	}
	if want := `refused udp 192.0.2.9:123: UDP, which is not carried: the clock is this machine's
refused 192.0.2.9:123: no rule names this host; to open it: tcp = ["192.0.2.9:123"] or --tcp 192.0.2.9:123
refused udp ok.test:3478: UDP, which is not carried, at no port: use TCP, where what is called has it
refused udp [2001:db8::1]:853: UDP, which is not carried: names are answered by the sandbox's own name server, at port 53 of any address
refused udp 192.0.2.10:10000: UDP, which is not carried, at no port: use TCP, where what is called has it
refused udp 192.0.2.10:10001: UDP, which is not carried, at no port: use TCP, where what is called has it
refused 192.0.2.11:22: no rule names this host; to open it: tcp = ["192.0.2.11:22"] or --tcp 192.0.2.11:22
`; got != want {
		t.Errorf("told\n%swant\n%s", got, want)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	logged := map[string]int{}
	for _, r := range l.ended {
		logged[fmt.Sprintf("%s %s:%d", r.By, r.Host, r.Port)]++
	}
	for to, want := range map[string]int{
		"udp 192.0.2.9:123": 2, // the second once all was forgotten
		"udp ok.test:443":   1, "udp ok.test:3478": 1, "udp 224.0.0.251:5353": 1, "udp [ff02::fb]:5353": 1, "udp 255.255.255.255:68": 1,
		"udp 192.0.2.10:11999": 1, "transparent 192.0.2.11:22": 1,
	} {
		if logged[to] != want {
			t.Errorf("%s is logged %d times", to, logged[to])
		}
	}
}
