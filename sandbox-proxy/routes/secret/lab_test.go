package secret_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes/secret"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	urlSecret   = "abcdefgh12345678"
	mounted     = "/" + urlSecret + "/secret/api"
	value       = "ghp_A1b2C3d4E5f6G7h8I9j0"
	placeholder = "ghp_Z9y8X7w6V5u4T3s2R1q0"
	host        = "api.example"
	patience    = 20 * time.Second
)

// A lab is a host with a certificate of the lab's own authority, and a proxy
// with one route to it.
type lab struct {
	t     *testing.T
	at    string
	proxy *proxy.Proxy
	host  *httptest.Server

	mu     sync.Mutex
	asked  []string // what the host was asked, a line each
	dialed []string
	ended  []proxy.Record
	quiet  bool // nothing is noted
}

type option func(*route.Secret, *judge.Rules, *proxy.Config)

func header(s *route.Secret, _ *judge.Rules, _ *proxy.Config) { s.Header = "authorization" }

func newLab(t testing.TB, serve http.Handler, options ...option) *lab {
	t.Helper()
	l := &lab{}
	if tt, ok := t.(*testing.T); ok {
		l.t = tt
	}
	pool, cert := authority(t, host)
	l.host = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l.quiet {
			serve.ServeHTTP(w, r)
			return
		}
		l.mu.Lock()
		l.asked = append(l.asked, r.Method+" "+r.Host+" "+r.RequestURI+" "+strings.Join(r.Header["Authorization"], "|"))
		l.mu.Unlock()
		serve.ServeHTTP(w, r)
	}))
	l.host.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	l.host.Config.ErrorLog = log.New(io.Discard, "", 0)
	l.host.StartTLS()
	t.Cleanup(l.host.Close)

	s := route.Secret{Host: host, Value: value, Placeholder: placeholder}
	rules := judge.Rules{Hosts: []string{}, NoInternet: true}
	var table *routes.Table
	config := proxy.Config{
		Sandbox: "web", Dial: l.dial, Ended: l.tellEnded,
		Local: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { table.ServeHTTP(w, r) }),
	}
	for _, o := range options {
		o(&s, &rules, &config)
	}
	if s.Header == "" && s.Query == "" {
		s.Header = "authorization"
	}
	m := route.Mounts{
		Routes: []route.Route{{Name: "api", Kind: s}}, URLSecret: urlSecret, Caller: route.Caller{Sandbox: "web", Key: "caller-key"},
	}
	rules.Routes = routes.Hosts(m.Routes)
	var err error
	if config.Judge, err = judge.New(rules, judge.System{
		Lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
			if name == "private.example" {
				return []netip.Addr{netip.MustParseAddr("10.1.2.3")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("192.0.2.7")}, nil
		},
		Interfaces: func() ([]netip.Prefix, error) { return nil, nil },
	}); err != nil {
		t.Fatal(err)
	}
	if l.proxy, err = proxy.New(config); err != nil {
		t.Fatal(err)
	}
	maker := func(r route.Route, w routes.With) (routes.Bridge, error) {
		w.TLS = &tls.Config{RootCAs: pool}
		return secret.New(r, w)
	}
	if table, err = routes.New(l.proxy, m, routes.Kinds{"secret": maker}); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.at = ln.Addr().String()
	served := make(chan error, 1)
	go func() { served <- l.proxy.Serve(ln) }()
	t.Cleanup(func() {
		l.proxy.Close()
		table.Close()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return l
}

func (l *lab) dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	l.mu.Lock()
	l.dialed = append(l.dialed, to.String())
	l.mu.Unlock()
	return (&net.Dialer{}).DialContext(ctx, "tcp", l.host.Listener.Addr().String())
}

func (l *lab) tellEnded(r proxy.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = append(l.ended, r)
}

func (l *lab) requests() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.asked...)
}

// authority makes an authority and a certificate of it.
func authority(t testing.TB, names ...string) (*x509.CertPool, tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	one := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "lab"}, DNSNames: names,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, one, one, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return pool, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// conn is a connection to the proxy.
func (l *lab) conn() net.Conn {
	l.t.Helper()
	c, err := net.Dial("tcp", l.at)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	return c
}

// say sends a request as it is written and gives the whole answer: its status,
// its header as it came, and its body.
func (l *lab) say(raw string) (status int, head http.Header, body string) {
	l.t.Helper()
	c := l.conn()
	go io.WriteString(c, raw)
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: strings.Fields(raw)[0]})
	if err != nil {
		l.t.Fatalf("%.80q: %v", raw, err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		l.t.Fatalf("%.80q: the body: %v", raw, err)
	}
	for name, values := range resp.Trailer {
		resp.Header["Trailer:"+name] = values
	}
	return resp.StatusCode, resp.Header, string(b)
}

// get is a GET on the route.
func get(rest string, headers ...string) string {
	return "GET " + mounted + rest + " HTTP/1.1\r\nHost: 127.0.0.1:1234\r\n" + strings.Join(append(headers, ""), "\r\n") + "Connection: close\r\n\r\n"
}

const bearer = "Authorization: Bearer " + placeholder
