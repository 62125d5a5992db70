package proxy_test

import (
	"bufio"
	"crypto/tls"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

const tlsChild = "TEST_UPSTREAM_TLS_CHILD"

// An upstream spoken to in TLS, whose certificate must be one that the machine
// trusts. The roots are read once a process, so each case is a process.
func TestUpstreamTLS(t *testing.T) {
	if os.Getenv(tlsChild) != "" {
		upstreamTLSChild(t)
		return
	}
	made := httptest.NewTLSServer(nil)
	made.Close()
	roots := filepath.Join(t.TempDir(), "roots.pem")
	trusted := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made.Certificate().Raw})
	for what, text := range map[string][]byte{"trusted": trusted, "untrusted": nil} {
		if err := os.WriteFile(roots, text, 0o600); err != nil {
			t.Fatal(err)
		}
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestUpstreamTLS$", "-test.count=1")
		child.Env = append(os.Environ(), tlsChild+"="+what, "SSL_CERT_FILE="+roots, "SSL_CERT_DIR="+t.TempDir())
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", what, err, out)
		}
	}
}

func upstreamTLSChild(t *testing.T) {
	made := httptest.NewUnstartedServer(nil)
	made.StartTLS()
	config := made.TLS.Clone()
	made.Close()
	config.NextProtos = nil
	up := listen(t)
	serveConns(t, up, func(raw *net.TCPConn) {
		c := tls.Server(raw, config)
		r := bufio.NewReader(c)
		for {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			if req.Method != "CONNECT" {
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage")
				continue
			}
			io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			io.Copy(c, r)
			c.CloseWrite()
			return
		}
	})
	l := newLab(t, hosts("ok.test", "ok.test:7"), with(func(_ *judge.Rules, c *proxy.Config) {
		c.Upstream, _ = proxy.ParseUpstream("https://" + up.Addr().String())
	}))
	if os.Getenv(tlsChild) == "untrusted" {
		resp, body := l.ask("CONNECT ok.test:7 HTTP/1.1\r\n\r\n")
		if resp.StatusCode != 502 || !contains(body, "the upstream proxy's certificate is not one that this machine trusts") {
			t.Errorf("%d %q", resp.StatusCode, body)
		}
		return
	}
	c := l.connect("ok.test:7")
	data := strings.Repeat("x", 1<<20)
	go func() { io.WriteString(c.TCPConn, data); c.CloseWrite() }()
	if got, err := c.rest(); got != data || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for range 2 {
		if resp, body := l.ask("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n"); resp.StatusCode != 200 || body != "page" {
			t.Errorf("%d %q", resp.StatusCode, body)
		}
	}
}
