package carry_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	measure "github.com/lnkhq/lnk-sandbox/measure-contract"
	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes/carry"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	patience  = 20 * time.Second
	urlSecret = "abcdefgh12345678"
	key       = "sk-the-real-key-0123456789"
)

// A lab is a proxy with one route on it.
type lab struct {
	t     *testing.T
	proxy *proxy.Proxy
	table *routes.Table
	at    string        // host:port of the proxy
	base  string        // where the route is
	conn  net.Conn      // that was asked on last
	rest  *bufio.Reader // of it
	early []http.Header // of answers before the answer
}

// start mounts one route on a proxy that opens nothing else.
func start(t *testing.T, one route.Route, config *tls.Config) *lab {
	t.Helper()
	m := route.Mounts{Caller: route.Caller{Sandbox: "web", Key: "the-key"}, URLSecret: urlSecret, Routes: []route.Route{one}}
	nobody := judge.System{
		Lookup:     func(context.Context, string) ([]netip.Addr, error) { return nil, errors.New("none") },
		Interfaces: func() ([]netip.Prefix, error) { return nil, nil },
	}
	j, err := judge.New(judge.Rules{Hosts: []string{}, NoInternet: true, Routes: routes.Hosts(m.Routes)}, nobody)
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t}
	l.proxy, err = proxy.New(proxy.Config{
		Sandbox: "web", Judge: j,
		Local: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { l.table.ServeHTTP(w, r) }),
	})
	if err != nil {
		t.Fatal(err)
	}
	kinds := carry.Kinds()
	for name, made := range kinds {
		kinds[name] = func(r route.Route, with routes.With) (routes.Bridge, error) {
			with.TLS = config
			return made(r, with)
		}
	}
	if l.table, err = routes.New(l.proxy, m, kinds); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.at = ln.Addr().String()
	l.base = "http://" + l.at + strings.TrimSuffix(one.Path(urlSecret), "/")
	go l.proxy.Serve(ln)
	t.Cleanup(func() {
		l.proxy.Close()
		if err := l.table.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// model is a route to an API at upstream.
func model(upstream string) route.Route {
	return route.Route{Name: "m", NeedsSecret: true, Kind: route.Model{
		Provider: "openai", Upstream: upstream, Header: "Authorization", Value: "Bearer " + key,
	}}
}

// serve listens on loopback and gives its host:port.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h}
	go s.Serve(ln)
	t.Cleanup(func() { s.Close() })
	return ln.Addr().String()
}

// ask asks the route, with headers given as name, value, and reads the answer.
func (l *lab) ask(method, path, body string, headers ...string) (*http.Response, string) {
	l.t.Helper()
	resp := l.open(method, path, body, headers...)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		l.t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp, string(b)
}

// open asks with raw bytes, so that nothing is made of the path, and gives the
// answer with its body to be read.
func (l *lab) open(method, path, body string, headers ...string) *http.Response {
	l.t.Helper()
	c, err := net.Dial("tcp", l.at)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	var b strings.Builder
	b.WriteString(method + " " + strings.TrimPrefix(l.base, "http://"+l.at) + path + " HTTP/1.1\r\nHost: " + l.at + "\r\nConnection: close\r\n")
	for i := 0; i+1 < len(headers); i += 2 {
		b.WriteString(headers[i] + ": " + headers[i+1] + "\r\n")
	}
	if body != "" {
		b.WriteString("Transfer-Encoding: chunked\r\n\r\n")
		for i := 0; i < len(body); i += 7 {
			piece := body[i:min(i+7, len(body))]
			b.WriteString(string("0123456789"[len(piece)]) + "\r\n" + piece + "\r\n")
		}
		b.WriteString("0\r\n")
	}
	b.WriteString("\r\n")
	io.WriteString(c, b.String())
	l.conn, l.rest = c, bufio.NewReader(c)
	resp, err := http.ReadResponse(l.rest, &http.Request{Method: method})
	for l.early = nil; err == nil && resp.StatusCode/100 == 1 && resp.StatusCode != 101; {
		l.early = append(l.early, resp.Header)
		resp, err = http.ReadResponse(l.rest, &http.Request{Method: method})
	}
	if err != nil {
		l.t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp
}

// counts waits until the model's route has counted that many answers.
func (l *lab) counts(requests uint64) [6]uint64 {
	l.t.Helper()
	var got measure.Tokens
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if got, _ = l.table.Tokens(); got.Requests >= requests {
			break
		}
	}
	return [6]uint64{got.Requests, got.Unmetered, got.Input, got.Output, got.Cached, got.Written}
}
