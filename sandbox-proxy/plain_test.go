package proxy_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sort"
	"strings"
	"testing"
	"time"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// headers answers with the request as it arrived.
func headers(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s %s\n", r.Method, r.RequestURI, r.Host)
	for _, name := range sortedKeys(r.Header) {
		fmt.Fprintf(w, "%s: %s\n", name, strings.Join(r.Header[name], ","))
	}
	fmt.Fprintf(w, "body %d %x\n", len(b), sha256.Sum256(b))
	for _, name := range sortedKeys(r.Trailer) {
		fmt.Fprintf(w, "trailer %s: %s\n", name, strings.Join(r.Trailer[name], ","))
	}
}

func sortedKeys(h http.Header) []string {
	var all []string
	for name := range h {
		all = append(all, name)
	}
	sort.Strings(all)
	return all
}

func TestPlain(t *testing.T) {
	l := newLab(t, hosts("ok.test", "ok.test:8080"))
	l.site("ok.test", 80, headers)
	l.site("ok.test", 8080, headers)
	for target, want := range map[string]string{
		"http://ok.test/":             "GET / ok.test",
		"http://ok.test":              "GET / ok.test",
		"http://ok.test?x=1":          "GET /?x=1 ok.test",
		"http://OK.test./a%2fb?c;d":   "GET /a%2fb?c;d ok.test",
		"HTTP://ok.test:80/":          "GET / ok.test",
		"http://ok.test:8080/x?":      "GET /x? ok.test:8080",
		"http://ok.test//a/../b?%zz=": "GET //a/../b?%zz= ok.test",
	} {
		host := strings.SplitN(strings.TrimPrefix(strings.ToLower(target), "http://"), "/", 2)[0]
		host, _, _ = strings.Cut(host, "?")
		resp, body := l.ask("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
		if first, _, _ := strings.Cut(body, "\n"); resp.StatusCode != 200 || first != want {
			t.Errorf("%s: %d %q, want %q", target, resp.StatusCode, first, want)
		}
	}
}

// A host says nothing in the proxy's name behind its answer either.
func TestTrailersOfOneHop(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.site("ok.test", 80, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "Lnk-Refused, X-End")
		io.WriteString(w, "ok")
		for _, name := range []string{"Lnk-Refused", "X-End", http.TrailerPrefix + "Proxy-Authenticate", http.TrailerPrefix + "X-More"} {
			w.Header().Set(name, "1")
		}
	})
	c := l.client().say("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nConnection: close\r\n\r\n")
	all, err := c.rest()
	if err != nil || strings.Contains(all, "Lnk-Refused") || strings.Contains(all, "Proxy-Authenticate") || !strings.Contains(all, "X-End: 1") || !strings.Contains(all, "X-More: 1") {
		t.Errorf("%v: %q", err, all)
	}
}

// The origin sees no header of the hop, none of the proxy's, none that tells
// of the sandbox.
func TestHopByHop(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.site("ok.test", 80, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Lnk-Refused", "host")
		w.Header().Set("Keep-Alive", "5")
		w.Header().Set("Proxy-Authenticate", "Basic")
		w.Header().Set("X-Kept", "1")
		headers(w, r)
	})
	resp, body := l.ask("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nProxy-Authorization: Basic eDp5\r\nProxy-Connection: keep-alive\r\nConnection:\r\nConnection: Connection, X-Internal\r\nX-Internal: 1\r\nKeep-Alive: 5\r\nTE: trailers\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\nX-End: 2\r\nLnk-Refused: x\r\n\r\n")
	if want := "GET / ok.test\nX-End: 2\nbody 0 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n"; body != want {
		t.Errorf("origin saw %q", body)
	}
	if h := resp.Header; h.Get("X-Kept") != "1" || len(h["Lnk-Refused"])+len(h["Keep-Alive"])+len(h["Proxy-Authenticate"])+len(h["Via"]) > 0 {
		t.Errorf("the program saw %v", h)
	}
}

func TestPlainTargets(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.site("ok.test", 80, headers)
	for raw, want := range map[string]int{
		"GET http://ok.test/ HTTP/1.1\r\nHost: bad.test\r\n\r\n":                                                                400,
		"GET http://ok.test:8080/ HTTP/1.1\r\nHost: ok.test\r\n\r\n":                                                            400,
		"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test:81\r\n\r\n":                                                              400,
		"GET http://ok.test/ HTTP/1.1\r\n\r\n":                                                                                  400,
		"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nHost: ok.test\r\n\r\n":                                                400,
		"GET http://u@ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n":                                                               400,
		"GET http://ok.test@evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n":                                                     400,
		"GET ftp://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n":                                                                  400,
		"GET http:/ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n":                                                                  400,
		"GET http:///ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n":                                                                400,
		"GET http://[ok.test]/ HTTP/1.1\r\nHost: [ok.test]\r\n\r\n":                                                             400,
		"GET http://ok.test:/ HTTP/1.1\r\nHost: ok.test:\r\n\r\n":                                                               400,
		"GET http://ok.test:080/ HTTP/1.1\r\nHost: ok.test:080\r\n\r\n":                                                         400,
		"GET http://ok.test\\@evil.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n":                                                     400,
		"GET http://ok.test/#f HTTP/1.1\r\nHost: ok.test\r\n\r\n":                                                               400,
		"GET / HTTP/1.1\r\nHost: ok.test\r\n\r\n":                                                                               400,
		"GET //ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n":                                                                      400,
		"OPTIONS * HTTP/1.1\r\nHost: ok.test\r\n\r\n":                                                                           400,
		"GET ok.test HTTP/1.1\r\nHost: ok.test\r\n\r\n":                                                                         400,
		"GET http://ok.test/ HTTP/1.2\r\nHost: ok.test\r\n\r\n":                                                                 505,
		"GET http://ok.test/ http/1.1\r\nHost: ok.test\r\n\r\n":                                                                 505,
		"GET http://ok.test/a b HTTP/1.1\r\nHost: ok.test\r\n\r\n":                                                              505,
		"G(T http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n":                                                                 400,
		"GET http://ok.test/ HTTP/1.1\nHost: ok.test\n\n":                                                                       400,
		"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\nX: 1\r\n\r\n":                                                           400,
		"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nX: 1\r\n 2\r\n\r\n":                                                   400,
		"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nX : 1\r\n\r\n":                                                        400,
		"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nX: \r1\r\n\r\n":                                                       400,
		"GET http://ok.test/\x00 HTTP/1.1\r\nHost: ok.test\r\n\r\n":                                                             400,
		"GET http://ok%2etest/ HTTP/1.1\r\nHost: ok%2etest\r\n\r\n":                                                             400,
		"GET http://ok\xc3\xa9.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n":                                                         400,
		"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test/x\r\n\r\n":                                                               400,
		"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc":                   400,
		"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 3, 3\r\n\r\nabc":                                     400,
		"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: +3\r\n\r\nabc":                                       400,
		"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 99999999999999999999\r\n\r\nabc":                     400,
		"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n":    400,
		"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n":    400,
		"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding: chunked,\r\n\r\n0\r\n\r\n":                        501,
		"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n":                   501,
		"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n":                     400,
		"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n": 400,
		"POST http://ok.test/ HTTP/1.0\r\nHost: ok.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n":                         400,
		"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nX: " + strings.Repeat("a", 70<<10) + "\r\n\r\n":                       431,
		"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nExpect: 200-ok\r\nContent-Length: 1\r\n\r\na":                        417,
	} {
		if resp, body := l.ask(raw); resp.StatusCode != want {
			t.Errorf("%.90q: %d %q, want %d", raw, resp.StatusCode, body, want)
		}
	}
	if d := l.dials(); len(d) > 0 {
		t.Errorf("dialled %q", d)
	}
}

// Each request on a connection is decided by itself.
func TestKeepAlive(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.site("ok.test", 80, headers)
	get := func(host string) string { return "GET http://" + host + "/ HTTP/1.1\r\nHost: " + host + "\r\n\r\n" }
	c := l.client()
	for range 5 {
		if resp, _ := c.say(get("ok.test")).answer(); resp.StatusCode != 200 || resp.Close {
			t.Fatalf("%d, close %v", resp.StatusCode, resp.Close)
		}
	}
	if resp, _ := c.say(get("evil.test")).answer(); resp.StatusCode != 403 || resp.Close {
		t.Errorf("%d, close %v", resp.StatusCode, resp.Close)
	}
	if resp, _ := c.say(get("ok.test")).answer(); resp.StatusCode != 200 {
		t.Errorf("after a refusal: %d", resp.StatusCode)
	}
	if resp, _ := c.say("GET http://ok.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n").answer(); resp.StatusCode != 400 || !resp.Close {
		t.Errorf("%d, close %v", resp.StatusCode, resp.Close)
	}
	// Pipelined, and a body that looks like a request.
	c = l.client().say(get("ok.test") + get("ok.test") + get("evil.test") + get("ok.test"))
	for _, want := range []int{200, 200, 403, 200} {
		if resp, _ := c.answer(); resp.StatusCode != want {
			t.Errorf("%d, want %d", resp.StatusCode, want)
		}
	}
	inner := get("evil.test")
	chunked := fmt.Sprintf("%x;ext=\"a;b\"\r\n%s\r\n0\r\nX-T: 1\r\n\r\n", len(inner), inner)
	c = l.client().say("POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: %d\r\n\r\n%s", len(inner), inner)
	c.say("POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding: chunked\r\n\r\n%s", chunked)
	c.say("%s", get("ok.test"))
	for i := range 3 {
		if resp, body := c.answer(); resp.StatusCode != 200 || i < 2 && !contains(body, fmt.Sprintf("body %d %x", len(inner), sha256.Sum256([]byte(inner)))) {
			t.Errorf("request %d: %d %q", i, resp.StatusCode, body)
		}
	}
	for _, d := range l.dials() {
		if d != "192.0.2.1:80" {
			t.Errorf("dialled %s", d)
		}
	}
}

// A chunked body that is malformed never lets what follows be a request.
func TestMalformedChunks(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.site("ok.test", 80, headers)
	for _, body := range []string{
		"5\nhello\r\n0\r\n\r\n", "5\r\nhello0\r\n\r\n", "x\r\n", "\r\n", "5 \r\nhello\r\n0\r\n\r\n", "+5\r\nhello\r\n0\r\n\r\n", "0x5\r\nhello\r\n0\r\n\r\n",
		"5\r\nhello\n0\r\n\r\n", "-1\r\n", "5;\nhello\r\n0\r\n\r\n", "10000000000000005\r\nhello\r\n0\r\n\r\n", "0\r\nX: 1\n\r\n", "0\n\n", "5;" + strings.Repeat("a", 80<<10) + "\r\nhello\r\n0\r\n\r\n",
		"0\r\n" + strings.Repeat("X: 1\r\n", 20<<10) + "\r\n",
	} {
		c := l.client()
		io.WriteString(c, "POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding: chunked\r\n\r\n"+body+"GET http://ok.test/smuggled HTTP/1.1\r\nHost: ok.test\r\n\r\n")
		c.CloseWrite()
		if all, _ := c.rest(); contains(all, "smuggled") || strings.Count(all, "HTTP/1.1") > 1 || strings.HasPrefix(all, "HTTP/1.1 200") {
			t.Errorf("%.40q: %.300q", body, all)
		}
	}
}

func TestBodies(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.site("ok.test", 80, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "GET" {
			io.Copy(w, io.LimitReader(endless{}, 100<<20))
			return
		}
		headers(w, r)
	})
	u, _ := url.Parse("http://" + l.at)
	tr := &http.Transport{Proxy: http.ProxyURL(u), ExpectContinueTimeout: patience}
	defer tr.CloseIdleConnections()
	hc := &http.Client{Transport: tr}
	big := bytes.Repeat([]byte("0123456789abcdef"), 5<<16)
	sum := fmt.Sprintf("body %d %x", len(big), sha256.Sum256(big))
	for _, expect := range []bool{false, true} {
		for _, chunked := range []bool{false, true} {
			req, _ := http.NewRequest("POST", "http://ok.test/", bytes.NewReader(big))
			if chunked {
				req.ContentLength = -1
				req.Trailer = http.Header{"X-Sum": {"abc"}}
			}
			if expect {
				req.Header.Set("Expect", "100-continue")
			}
			resp, err := hc.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			b, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if !contains(string(b), sum) || chunked != contains(string(b), "trailer X-Sum: abc") {
				t.Errorf("expect %v, chunked %v: %.300q", expect, chunked, b)
			}
		}
	}
	resp, err := hc.Get("http://ok.test/")
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if n != 100<<20 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if up, down := l.proxy.Carried(); up < 20<<20 || down < 100<<20 {
		t.Errorf("carried %d up, %d down", up, down)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

// The body is asked for before it is sent, and an origin that does not want it
// never gets it.
func TestExpect(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.origin("ok.test", 80, func(c *net.TCPConn) {
		b := make([]byte, 4096)
		n, _ := c.Read(b)
		if contains(string(b[:n]), "/no") {
			if !contains(string(b[:n]), "Connection: close") { // else the body is sent to keep the connection
				io.WriteString(c, "HTTP/1.1 500 Kept\r\n\r\n")
				return
			}
			io.WriteString(c, "HTTP/1.1 413 Too Big\r\nContent-Length: 2\r\n\r\nno")
			return
		}
		io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
		io.ReadFull(c, b[:5])
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n%s", b[:5])
	})
	c := l.client().say("POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
	if resp, _ := c.answer(); resp.StatusCode != 100 {
		t.Fatalf("%d before the body", resp.StatusCode)
	}
	if resp, body := c.say("hello").answer(); resp.StatusCode != 200 || body != "hello" {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
	c = l.client().say("POST http://ok.test/no HTTP/1.1\r\nHost: ok.test\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
	if resp, body := c.answer(); resp.StatusCode != 413 || body != "no" {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
}

// A body behind whose end the next request stands: what is read of it goes as
// far as it goes.
func TestBodyEnd(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.site("ok.test", 80, headers)
	c := l.client().say("POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
	if resp, _ := c.answer(); resp.StatusCode != 100 {
		t.Fatalf("%d before the body", resp.StatusCode)
	}
	c.say("helloGET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\nGET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n")
	for _, want := range []int{200, 403, 200} {
		if resp, body := c.answer(); resp.StatusCode != want {
			t.Errorf("%d %q, want %d", resp.StatusCode, body, want)
		}
	}
}

// A kept connection that the origin ends when it is used again is not used for a
// request whose program waits to be asked for its body.
func TestKeptAndEnded(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.origin("ok.test", 80, func(c *net.TCPConn) {
		c.Read(make([]byte, 4096))
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		c.Read(make([]byte, 4096))
	})
	if resp, _ := l.ask("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n"); resp.StatusCode != 200 {
		t.Fatal(resp.StatusCode)
	}
	resp, body := l.ask("POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
	if resp.StatusCode != 200 || body != "ok" {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
}

// Events come as they are sent, silence between them is no end, and what is
// before the answer, behind it and in its head comes through.
func TestEvents(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	more := make(chan bool)
	l.site("ok.test", 80, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</a>; rel=preload")
		w.WriteHeader(103)
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Trailer", "X-End")
		w.WriteHeader(200)
		for range 3 {
			io.WriteString(w, "data: 1\n\n")
			w.(http.Flusher).Flush()
			<-more
		}
		w.Header().Set("X-End", "yes")
		w.Header().Set(http.TrailerPrefix+"X-Late", "too")
	})
	c := l.client().say("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n")
	resp, err := http.ReadResponse(c.r, nil)
	if err != nil || resp.StatusCode != 103 || resp.Header.Get("Link") == "" {
		t.Fatalf("%v %v", resp, err)
	}
	resp, err = http.ReadResponse(c.r, nil)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%v %v", resp, err)
	}
	for range 3 {
		b := make([]byte, 9)
		if _, err := io.ReadFull(resp.Body, b); string(b) != "data: 1\n\n" {
			t.Fatalf("%q %v", b, err)
		}
		more <- true
	}
	if b, err := io.ReadAll(resp.Body); len(b) > 0 || err != nil {
		t.Errorf("%q %v", b, err)
	}
	if resp.Trailer.Get("X-End") != "yes" || resp.Trailer.Get("X-Late") != "too" {
		t.Errorf("trailers %v", resp.Trailer)
	}
}

// A program that closes its side first gets its answer all the same.
func TestPlainHalfClose(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	ended := make(chan bool)
	l.site("ok.test", 80, func(w http.ResponseWriter, r *http.Request) {
		<-ended
		io.WriteString(w, "late")
	})
	c := l.client().say("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n")
	c.CloseWrite()
	time.Sleep(100 * time.Millisecond) // the end arrives first
	close(ended)
	if resp, body := c.answer(); resp.StatusCode != 200 || body != "late" {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
}

// An answer that is cut must not look whole.
func TestCutAnswer(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.origin("ok.test", 80, func(c *net.TCPConn) {
		c.Read(make([]byte, 4096))
		io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
	})
	c := l.client().say("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n")
	resp, err := http.ReadResponse(c.r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("%q looks whole", b)
	}
}

func TestPlainFailures(t *testing.T) {
	l := newLab(t, hosts("ok.test", "early.test", "rogue.test"))
	l.name("ok.test", "192.0.2.99")
	l.origin("early.test", 80, func(c *net.TCPConn) {})
	l.origin("rogue.test", 80, func(c *net.TCPConn) {
		c.Read(make([]byte, 4096))
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
		c.Read(make([]byte, 1))
	})
	for _, h := range []string{"ok.test", "early.test", "rogue.test"} {
		resp, body := l.ask("GET http://" + h + "/ HTTP/1.1\r\nHost: " + h + "\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n")
		if resp.StatusCode != 502 || !strings.HasPrefix(body, "lnk sandbox web: ") || strings.Contains(body, "192.0") {
			t.Errorf("%s: %d %q", h, resp.StatusCode, body)
		}
	}
}

func TestLocal(t *testing.T) {
	l := newLab(t, with(func(_ *judge.Rules, c *proxy.Config) {
		c.Local = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "local "+r.URL.Path) })
	}))
	if resp, body := l.ask("GET /tool/gh/ HTTP/1.1\r\nHost: x\r\n\r\n"); resp.StatusCode != 200 || body != "local /tool/gh/" {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
}
