package secret_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// An upstream carries the route's TLS and never sees what is in it.
func TestThroughAnUpstream(t *testing.T) {
	up, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer up.Close()
	heads := make(chan string, 8)
	to := make(chan string, 1)
	go func() {
		near, err := up.Accept()
		if err != nil {
			return
		}
		defer near.Close()
		br := bufio.NewReader(near)
		r, err := http.ReadRequest(br)
		if err != nil {
			return
		}
		heads <- fmt.Sprint(r.Method, " ", r.RequestURI, " ", r.Header)
		far, err := net.Dial("tcp", <-to)
		if err != nil {
			return
		}
		defer far.Close()
		io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { io.Copy(far, br); far.Close() }()
		io.Copy(near, far)
	}()
	l := newLab(t, ok, header, func(_ *route.Secret, _ *judge.Rules, c *proxy.Config) {
		c.Upstream, err = proxy.ParseUpstream("http://" + up.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c.Dial = nil // the upstream is really dialled
	})
	to <- l.host.Listener.Addr().String()
	status, _, body := l.say(get("/x", bearer))
	if status != 200 || body != "ok" || !strings.HasSuffix(l.requests()[0], "Bearer "+value) {
		t.Errorf("%d %q %q", status, body, l.requests())
	}
	if got := <-heads; !strings.HasPrefix(got, "CONNECT "+host+":443 ") || strings.Contains(got, value) || strings.Contains(got, placeholder) {
		t.Error(got)
	}
	l.proxy.Close()
}

// A pause holds what is asked by the route, and a stop refuses it.
func TestWire(t *testing.T) {
	l := newLab(t, ok, header)
	for _, set := range []struct {
		do   func(string)
		says string
	}{{l.proxy.Pause, "paused"}, {l.proxy.Stop, "stopped"}} {
		set.do("enough")
		if status, head, _ := l.say(get("/", bearer)); status != 503 || head.Get("Lnk-Refused") != set.says {
			t.Errorf("%s: %d %v", set.says, status, head)
		}
		l.proxy.Resume()
	}
	if n := len(l.requests()); n != 0 {
		t.Errorf("%d requests went out", n)
	}
	if status, _, _ := l.say(get("/", bearer)); status != 200 {
		t.Error(status)
	}
}
