package routes_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	urlSecret = "abcdefgh12345678"
	patience  = 20 * time.Second
)

// A bridge of the tests says what it got, and does what its path says.
type bridge struct {
	with   routes.With
	closed chan struct{}
	ended  chan error
}

func (b *bridge) Close() error { close(b.closed); return nil }

func (b *bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/heads":
		w.Header().Set("Link", r.Header.Get("Much"))
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusOK)
		http.NewResponseController(w).Flush()
		w.Header().Set(http.TrailerPrefix+"Link", r.Header.Get("Much"))
	case "/wait":
		w.WriteHeader(200)
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
		b.ended <- r.Context().Err()
	case "/upgrade":
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			http.Error(w, err.Error(), 500)
			return
		}
		defer c.Close()
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: lnk-test\r\n\r\n")
		io.Copy(c, c)
	default:
		body, _ := io.ReadAll(r.Body)
		if r.URL.RequestURI() != r.RequestURI {
			fmt.Fprintf(w, "decoded: ")
		}
		if r.Trailer != nil {
			fmt.Fprintf(w, "trailer=%v ", r.Trailer)
		}
		fmt.Fprintf(w, "%s %s|caller=%s key=%s mine=%s auth=%s|%s", r.Method, r.RequestURI, r.Header["Lnk-Caller"], r.Header["Lnk-Caller-Key"], r.Header["Lnk_caller-X"], r.Header["Proxy-Authorization"], body)
	}
}

type lab struct {
	proxy  *proxy.Proxy
	at     string
	ended  chan proxy.Record
	bridge *bridge
}

func start(t *testing.T, mounts route.Mounts, set ...func(*proxy.Config)) *lab {
	t.Helper()
	l := &lab{ended: make(chan proxy.Record, 64), bridge: &bridge{closed: make(chan struct{}), ended: make(chan error, 8)}}
	none := judge.System{
		Lookup:     func(context.Context, string) ([]netip.Addr, error) { return nil, errors.New("none") },
		Interfaces: func() ([]netip.Prefix, error) { return nil, nil },
	}
	j, err := judge.New(judge.Rules{Hosts: []string{}, NoInternet: true}, none)
	if err != nil {
		t.Fatal(err)
	}
	var table *routes.Table
	config := proxy.Config{
		Sandbox: "web", Judge: j, Ended: func(r proxy.Record) { l.ended <- r },
		Local: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { table.ServeHTTP(w, r) }),
	}
	for _, f := range set {
		f(&config)
	}
	if l.proxy, err = proxy.New(config); err != nil {
		t.Fatal(err)
	}
	one := func(r route.Route, w routes.With) (routes.Bridge, error) {
		if r.Name == "other" {
			return &bridge{closed: make(chan struct{})}, nil
		}
		l.bridge.with = w
		return l.bridge, nil
	}
	if table, err = routes.New(l.proxy, mounts, routes.Kinds{"tool": one, "open": one, "bridge": one}); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.at = ln.Addr().String()
	go l.proxy.Serve(ln)
	t.Cleanup(func() {
		l.proxy.Close()
		table.Close()
		select {
		case <-l.bridge.closed:
		default:
			t.Error("the bridge was not closed")
		}
	})
	return l
}

func mounts(needs bool) route.Mounts {
	return route.Mounts{
		Caller: route.Caller{Sandbox: "web", Key: "the-key"}, URLSecret: urlSecret,
		Routes: []route.Route{
			{Name: "gh", NeedsSecret: needs, Kind: route.Tool{Argv: []string{"/bin/true"}, Ask: route.AskNone, Allow: [][]string{}}},
			{Name: "other", NeedsSecret: !needs, Kind: route.Bridge{Socket: "/run/other.sock"}},
		},
	}
}

// say sends raw bytes and reads the answer.
func (l *lab) say(t *testing.T, raw string) (*http.Response, string) {
	t.Helper()
	c, err := net.Dial("tcp", l.at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	io.WriteString(c, raw)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func get(path string, headers ...string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + strings.Join(append(headers, ""), "\r\n") + "Connection: close\r\n\r\n"
}

func TestMounted(t *testing.T) {
	for _, needs := range []bool{false, true} {
		base := "/tool/gh"
		if needs {
			base = "/" + urlSecret + base
		}
		l := start(t, mounts(needs))
		for path, want := range map[string]string{
			base:                     "GET /",
			base + "?a=b":            "GET /?a=b",
			base + "/":               "GET /",
			base + "/x/%2F..//y?q=1": "GET /x/%2F..//y?q=1",
			// What has to be escaped takes nothing else's escape away.
			base + "/a%2fb/{c}|\xc3\xa9?d|\xe9": "GET /a%2fb/%7Bc%7D%7C%C3%A9?d|\xe9",
		} {
			resp, body := l.say(t, get(path))
			if resp.StatusCode != 200 || !strings.HasPrefix(body, want+"|") || strings.Contains(body, "decoded") {
				t.Errorf("%s: %d %s, want %s", path, resp.StatusCode, body, want)
			}
		}
		if got := l.bridge.with.Mount; got != base {
			t.Errorf("mount %q, want %q", got, base)
		}
	}
}

// Whatever is no mount is the same answer, so that nothing can be told from it.
func TestMissing(t *testing.T) {
	l := start(t, mounts(true))
	_, want := l.say(t, get("/nothing"))
	for _, path := range []string{
		"/", "//", "/tool/gh", "/tool/gh/", "/" + urlSecret, "/" + urlSecret + "/", "/" + urlSecret + "/tool", "/" + urlSecret + "/tool/",
		"/" + urlSecret + "/tool/GH/", "/" + urlSecret + "/open/gh/", "/" + urlSecret + "x/tool/gh/", "/" + urlSecret[1:] + "/tool/gh/",
		"//" + urlSecret + "/tool/gh/", "/" + urlSecret + "//tool/gh/", "/" + urlSecret + "/tool%2fgh/", "/" + urlSecret + "/bridge/other/",
		"/x/../" + urlSecret + "/tool/gh/", "/" + urlSecret + "/tool/gh%2e/", strings.ToUpper("/"+urlSecret) + "/tool/gh/",
	} {
		if resp, body := l.say(t, get(path)); resp.StatusCode != 404 || body != want {
			t.Errorf("%s: %d %q", path, resp.StatusCode, body)
		}
	}
	for _, host := range []string{"evil.example", "127.0.0.1.evil.example", "10.0.0.1:80", "localhost.evil"} {
		raw := strings.Replace(get("/"+urlSecret+"/tool/gh/"), "127.0.0.1", host, 1)
		if resp, body := l.say(t, raw); resp.StatusCode != 404 || body != want {
			t.Errorf("Host %s: %d %q", host, resp.StatusCode, body)
		}
	}
	for _, host := range []string{"localhost", "LOCALHOST:8", "[::1]:99", "127.0.0.1:80"} {
		raw := strings.Replace(get("/"+urlSecret+"/tool/gh/"), "127.0.0.1", host, 1)
		if resp, _ := l.say(t, raw); resp.StatusCode != 200 {
			t.Errorf("Host %s: %d", host, resp.StatusCode)
		}
	}
}

// What a program says of who calls never reaches a bridge.
func TestCaller(t *testing.T) {
	l := start(t, mounts(false))
	_, body := l.say(t, get("/tool/gh/", "Lnk-Caller: evil", "lnk-caller-key: evil", "LNK-CALLER: evil2", "Lnk_Caller: evil3",
		"Lnk-Caller-X: evil4", "Lnk_caller_x: e", "Proxy-Authorization: Basic eA=="))
	if want := "caller=[web] key=[the-key] mine=[] auth=[]"; !strings.Contains(body, want) {
		t.Errorf("%s, want %s", body, want)
	}
	_, body = l.say(t, "POST /tool/gh/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\nTrailer: X-A, Lnk-Caller\r\n\r\n"+
		"0\r\nX-A: 1\r\nLnk-Caller: evil\r\nlnk_caller_key: evil\r\nLnk-Caller-Key: evil\r\n\r\n")
	if !strings.Contains(body, "trailer=map[X-A:[1]] ") {
		t.Error(body)
	}
	// Connection cannot have them taken out on the way.
	_, body = l.say(t, "GET /tool/gh/ HTTP/1.1\r\nHost: localhost\r\nConnection: close, lnk-caller, lnk-caller-key\r\n\r\n")
	if !strings.Contains(body, "caller=[web] key=[the-key]") {
		t.Error(body)
	}
}

func TestCallsAreCounted(t *testing.T) {
	l := start(t, mounts(false), func(c *proxy.Config) { c.PerMinute = 2 })
	raw := "POST /tool/gh/p HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"
	_, body := l.say(t, raw)
	if !strings.HasSuffix(body, "|hello") {
		t.Error(body)
	}
	var r proxy.Record
	select {
	case r = <-l.ended:
	case <-time.After(patience):
		t.Fatal("nobody is told of the call")
	}
	if r.Route != "tool/gh" || !r.Allowed || r.Up != 5 || r.Down != uint64(len(body)) {
		t.Errorf("%+v", r)
	}
	if up, down := l.proxy.Carried(); up != uint64(len(raw)) || down <= uint64(len(body)) {
		t.Error(up, down)
	}
	l.say(t, raw)
	resp, body := l.say(t, raw)
	if resp.StatusCode != 429 || resp.Header.Get("Lnk-Refused") != "rate" {
		t.Error(resp.StatusCode, body)
	}
}

// What is said in heads and trailers is traffic as much as a body is.
func TestHeadsAreCounted(t *testing.T) {
	l := start(t, mounts(false))
	const much = 10 << 10
	c, err := net.Dial("tcp", l.at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	said := get("/tool/gh/heads", "Much: "+strings.Repeat("x", much))
	io.WriteString(c, said)
	heard, err := io.ReadAll(c)
	if err != nil || len(heard) < 3*much {
		t.Fatal(len(heard), err)
	}
	<-l.ended
	if up, down := l.proxy.Carried(); up != uint64(len(said)) || down < 3*much || down > uint64(len(heard)) {
		t.Errorf("counted %d and %d of %d and %d", up, down, len(said), len(heard))
	}
}

func TestStopEndsCalls(t *testing.T) {
	l := start(t, mounts(false))
	resp, err := http.Get("http://" + l.at + "/tool/gh/wait")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	l.proxy.Stop("enough")
	select {
	case <-l.bridge.ended:
	case <-time.After(patience):
		t.Fatal("the call goes on after a stop")
	}
	if resp, body := l.say(t, get("/tool/gh/")); resp.StatusCode != 503 || resp.Header.Get("Lnk-Refused") != "stopped" {
		t.Error(resp.StatusCode, body)
	}
}

func TestUpgrade(t *testing.T) {
	l := start(t, mounts(false))
	c, err := net.Dial("tcp", l.at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	io.WriteString(c, "POST /tool/gh/upgrade HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: lnk-test\r\n\r\nearly")
	br := bufio.NewReader(c)
	resp, err := http.ReadResponse(br, nil)
	if err != nil || resp.StatusCode != 101 {
		t.Fatal(resp, err)
	}
	io.WriteString(c, " later")
	got := make([]byte, len("early later"))
	if _, err := io.ReadFull(br, got); err != nil || string(got) != "early later" {
		t.Fatalf("%q %v", got, err)
	}
	// A request that asks for none cannot be taken over.
	if resp, body := l.say(t, get("/tool/gh/upgrade")); resp.StatusCode != 500 {
		t.Error(resp.StatusCode, body)
	}
}

func TestUnknownKind(t *testing.T) {
	m := mounts(false)
	m.Routes = m.Routes[:1]
	if _, err := routes.New(nil, m, routes.Kinds{}); err == nil || !strings.Contains(err.Error(), "route tool/gh: ") {
		t.Error(err)
	}
	m = mounts(true)
	m.URLSecret = ""
	m.Routes = m.Routes[:1]
	if _, err := routes.New(nil, m, routes.Kinds{"tool": func(route.Route, routes.With) (routes.Bridge, error) { return nil, nil }}); err == nil {
		t.Error("mounted under no secret")
	}
}
