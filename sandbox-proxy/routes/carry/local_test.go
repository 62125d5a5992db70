package carry_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

func portOf(t *testing.T, at string) uint16 {
	_, port, err := net.SplitHostPort(at)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	return uint16(n)
}

func TestLocalModel(t *testing.T) {
	at := serve(t, echo)
	port := portOf(t, at)
	l := start(t, route.Route{Name: "here", Kind: route.LocalModel{Port: port}}, nil)
	_, got := l.ask("POST", "/api/../chat?key=x", `{"a":1}`,
		"Authorization", "Bearer mine", "Lnk-Caller", "mine", "Lnk-Caller-Key", "mine", "Forwarded", "host=evil", "X-Forwarded-Host", "evil", "X-Real-Ip", "1.1.1.1")
	want := "POST /api/../chat?key=x host=localhost:" + strconv.Itoa(int(port)) + `| Authorization=` + backwards("Bearer mine") + `|{"a":1}`
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	// Nothing else of loopback is opened by it.
	other := serve(t, echo)
	for _, raw := range []string{
		"GET http://" + other + "/ HTTP/1.1\r\nHost: " + other + "\r\nConnection: close\r\n\r\n",
		"GET http://" + at + "/ HTTP/1.1\r\nHost: " + at + "\r\nConnection: close\r\n\r\n",
		"CONNECT " + at + " HTTP/1.1\r\nHost: " + at + "\r\n\r\n",
		"GET /local_model/here/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
		"GET /local_model/other/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
	} {
		if status := l.raw(raw); status != 403 && status != 404 {
			t.Errorf("%q: %d", raw, status)
		}
	}
}

// raw sends bytes and gives the status of the answer.
func (l *lab) raw(raw string) int {
	l.t.Helper()
	c, err := net.Dial("tcp", l.at)
	if err != nil {
		l.t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	io.WriteString(c, raw)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		l.t.Fatalf("%q: %v", raw, err)
	}
	return resp.StatusCode
}

func TestLocalModelIsNotThere(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := portOf(t, ln.Addr().String())
	ln.Close()
	l := start(t, route.Route{Name: "here", Kind: route.LocalModel{Port: port}}, nil)
	if resp, body := l.ask("GET", "/", ""); resp.StatusCode != 502 || strings.Contains(body, strconv.Itoa(int(port))) {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
}

// upgrading agrees to what is asked and gives back what it is told, until the
// program has said all.
func upgrading(w http.ResponseWriter, r *http.Request) {
	c, both, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer c.Close()
	as := r.Header.Get("Upgrade")
	if r.URL.Path == "/other" {
		as = "other"
	}
	io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+as+"\r\nX-Said: yes\r\n\r\nhello ")
	io.Copy(c, both)
	io.WriteString(c, " bye")
}

// upgraded makes a connection one that is said on both ways at once.
func (l *lab) upgraded(path string) {
	l.t.Helper()
	c, err := net.Dial("tcp", l.at)
	if err != nil {
		l.t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	at := strings.TrimPrefix(l.base, "http://"+l.at)
	io.WriteString(c, "GET "+at+path+" HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\nearly ")
	br := bufio.NewReader(c)
	resp, err := http.ReadResponse(br, nil)
	if err != nil || resp.StatusCode != 101 || resp.Header.Get("Upgrade") != "websocket" || resp.Header.Get("X-Said") != "yes" {
		l.t.Fatal(resp, err)
	}
	got := make([]byte, len("hello early "))
	if _, err := io.ReadFull(br, got); err != nil || string(got) != "hello early " {
		l.t.Fatalf("%q %v", got, err)
	}
	io.WriteString(c, "late")
	c.(*net.TCPConn).CloseWrite()
	if rest, err := io.ReadAll(br); err != nil || string(rest) != "late bye" {
		l.t.Fatalf("%q %v", rest, err)
	}
}

func TestLocalModelUpgrade(t *testing.T) {
	at := serve(t, upgrading)
	l := start(t, route.Route{Name: "here", Kind: route.LocalModel{Port: portOf(t, at)}}, nil)
	l.upgraded("/x")
	mount := "/local_model/here"
	if status := l.raw("GET " + mount + "/other HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"); status != 502 {
		t.Errorf("%d, switched to what was not asked for", status)
	}
	if status := l.raw("GET " + mount + "/x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); status != 502 {
		t.Errorf("%d, switched though nothing was asked for", status)
	}
}
