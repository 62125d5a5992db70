package proxy_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

func local(_ *lab, _ *judge.Rules, c *proxy.Config) { c.Local = http.HandlerFunc(headers) }

// A client that knows of no exceptions asks the proxy for the proxy's own
// addresses: as a proxy is asked, and by a tunnel.
func TestItselfAsked(t *testing.T) {
	l := newLab(t, hosts("ok.test"), local)
	_, port, _ := net.SplitHostPort(l.at)
	_, other, _ := net.SplitHostPort(free(t))
	for _, c := range []struct {
		target, host string
		status       int
		want         string
	}{
		{"http://" + l.at + "/a/b%2Fc?d", l.at, 200, "GET /a/b%2Fc?d " + l.at},
		{"http://" + l.at, l.at, 200, "GET / " + l.at},
		{"http://" + l.at + "?d", l.at, 200, "GET /?d " + l.at},
		{"http://LOCALHOST:" + port + "//x", "localhost:" + port, 200, "GET //x localhost:" + port},
		{"http://[::1]:" + port + "/x", "[::1]:" + port, 200, "GET /x [::1]:" + port},
		{"http://" + l.at + "/%zz", l.at, 400, ""},
		{"http://" + l.at + "/x", "ok.test", 400, ""},
		{"http://127.0.0.1:" + other + "/x", "127.0.0.1:" + other, 403, ""},
		{"http://10.9.0.2:" + port + "/x", "10.9.0.2:" + port, 403, ""},
		{"https://" + l.at + "/x", l.at, 403, ""},
	} {
		resp, body := l.ask("GET " + c.target + " HTTP/1.1\r\nHost: " + c.host + "\r\n\r\n")
		if first, _, _ := strings.Cut(body, "\n"); resp.StatusCode != c.status || c.want != "" && first != c.want {
			t.Errorf("%s: %d %q, want %d %q", c.target, resp.StatusCode, body, c.status, c.want)
		}
	}
	// Where nothing is to be asked of the proxy, it is no host.
	bare := newLab(t, hosts("ok.test"))
	for _, head := range []string{"GET http://" + bare.at + "/", "CONNECT " + bare.at} {
		if resp, _ := bare.ask(head + " HTTP/1.1\r\nHost: " + bare.at + "\r\n\r\n"); resp.StatusCode != 403 {
			t.Errorf("%s: %d", head, resp.StatusCode)
		}
	}
}

func TestItselfByATunnel(t *testing.T) {
	l := newLab(t, hosts("ok.test"), local)
	l.site("ok.test", 80, headers)
	c, err := net.Dial("tcp", l.at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	r := bufio.NewReader(c)
	answer := func(method string) (int, string) {
		t.Helper()
		resp, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if method == "CONNECT" && resp.StatusCode == 200 {
			return 200, ""
		}
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(b), "\n")
		return resp.StatusCode, first
	}
	// The first request comes with the tunnel's head, in one piece.
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\nGET /one HTTP/1.1\r\nHost: %s\r\n\r\n", l.at, l.at, l.at)
	if status, _ := answer("CONNECT"); status != 200 {
		t.Fatal(status)
	}
	if status, first := answer("GET"); status != 200 || first != "GET /one "+l.at {
		t.Errorf("%d %q", status, first)
	}
	fmt.Fprintf(c, "POST /two HTTP/1.1\r\nHost: %s\r\nContent-Length: 3\r\n\r\nabc", l.at)
	if status, first := answer("POST"); status != 200 || first != "POST /two "+l.at {
		t.Errorf("%d %q", status, first)
	}
	fmt.Fprintf(c, "GET http://ok.test/three HTTP/1.1\r\nHost: ok.test\r\n\r\n")
	if status, first := answer("GET"); status != 200 || first != "GET /three ok.test" {
		t.Errorf("%d %q", status, first)
	}
	// A tunnel in it would have no end.
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", l.at, l.at)
	if status, _ := answer("CONNECT"); status != 400 {
		t.Errorf("a tunnel in a tunnel: %d", status)
	}
	if _, err := r.ReadByte(); err == nil {
		t.Error("it goes on behind that")
	}
	// So not as the first either, with another behind it.
	c2, err := net.Dial("tcp", l.at)
	if err != nil {
		t.Fatal(err)
	}
	defer c2.Close()
	c2.SetDeadline(time.Now().Add(patience))
	io.WriteString(c2, strings.Repeat("CONNECT "+l.at+" HTTP/1.1\r\nHost: "+l.at+"\r\n\r\n", 1000))
	b, _ := io.ReadAll(c2)
	if n := strings.Count(string(b), "HTTP/1.1 200 "); n != 1 || !strings.Contains(string(b), "HTTP/1.1 400 ") {
		t.Errorf("%d tunnels: %.300q", n, b)
	}
}

// A stop and the secret hold for it as for any other.
func TestItselfIsHeldAsAnyOther(t *testing.T) {
	l := newLab(t, hosts("ok.test"), local, with(func(_ *judge.Rules, c *proxy.Config) { c.Secret = "abcdefgh12345678" }))
	if resp, _ := l.ask("CONNECT " + l.at + " HTTP/1.1\r\nHost: " + l.at + "\r\n\r\n"); resp.StatusCode != 407 {
		t.Errorf("without the secret: %d", resp.StatusCode)
	}
	l = newLab(t, hosts("ok.test"), local)
	c, err := net.Dial("tcp", l.at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", l.at, l.at)
	if resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: "CONNECT"}); err != nil || resp.StatusCode != 200 {
		t.Fatal(resp, err)
	}
	l.proxy.Close()
	if _, err := io.ReadAll(c); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("an idle tunnel is not ended with the proxy: %v", err)
	}
}

// free is an address of loopback that nobody listens on.
func free(t *testing.T) string {
	ln := listen(t)
	defer ln.Close()
	return ln.Addr().String()
}

// A client that has SOCKS for all it calls finds the proxy by it too.
func TestItselfBySOCKS(t *testing.T) {
	call := func(l *lab, request string) (string, error) {
		c, err := net.Dial("tcp", l.at)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(patience))
		// All in one piece, as a client may that waits for nothing.
		io.WriteString(c, "\x05\x01\x00"+request+"GET /x HTTP/1.1\r\nHost: "+l.at+"\r\nConnection: close\r\n\r\n")
		b, err := io.ReadAll(c)
		return string(b), err
	}
	l := newLab(t, hosts("ok.test"), local)
	at := netip.MustParseAddrPort(l.at)
	port := string(binary.BigEndian.AppendUint16(nil, at.Port()))
	for _, request := range []string{
		"\x05\x01\x00\x01\x7f\x00\x00\x01" + port, "\x05\x01\x00\x03\x09localhost" + port, "\x05\x01\x00\x03\x09127.0.0.1" + port,
		"\x05\x01\x00\x04" + strings.Repeat("\x00", 15) + "\x01" + port,
	} {
		if got, err := call(l, request); err != nil || !strings.HasPrefix(got, "\x05\x00\x05\x00\x00\x01") || !strings.Contains(got, "HTTP/1.1 200 OK\r\n") || !strings.Contains(got, "GET /x "+l.at) {
			t.Errorf("%q: %q, %v", request, got, err)
		}
	}
	_, other, _ := net.SplitHostPort(free(t))
	n, _ := strconv.Atoi(other)
	elsewhere := string(binary.BigEndian.AppendUint16(nil, uint16(n)))
	for what, got := range map[string]string{
		"another port": first(call(l, "\x05\x01\x00\x03\x09localhost"+elsewhere)),
		"nothing is to be asked of the proxy": func() string {
			bare := newLab(t, hosts("ok.test"))
			return first(call(bare, "\x05\x01\x00\x01\x7f\x00\x00\x01"+string(binary.BigEndian.AppendUint16(nil, netip.MustParseAddrPort(bare.at).Port()))))
		}(),
	} {
		if !strings.HasPrefix(got, "\x05\x00\x05\x02") || strings.Contains(got, "HTTP/") {
			t.Errorf("%s: %q", what, got)
		}
	}
}

func first(s string, _ error) string { return s }
