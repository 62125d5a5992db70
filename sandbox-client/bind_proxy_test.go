package client_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// blank plays a blank proxy: it takes one connection, and answers with what
// answer makes of the line it gets.
func blank(t *testing.T, answer func(conn net.Conn, line string)) (socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "control")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		line, _ := bufio.NewReader(conn).ReadString('\n')
		answer(conn, line)
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return socket
}

func say(text string) func(net.Conn, string) {
	return func(conn net.Conn, _ string) { conn.Write([]byte(text)) }
}

func TestBindProxy(t *testing.T) {
	got := make(chan string, 1)
	socket := blank(t, func(conn net.Conn, line string) {
		got <- line
		conn.Write([]byte("{}\n"))
		conn.Read(make([]byte, 1)) // it stays open, as a proxy's may
	})
	if err := client.BindProxy(t.Context(), socket, client.ProxyBind{Name: "web", Upstream: "direct"}); err != nil {
		t.Fatal(err)
	}
	if line := <-got; line != `{"name":"web","upstream":"direct"}`+"\n" {
		t.Errorf("sent %s", line)
	}
}

func TestBindProxyFails(t *testing.T) {
	for name, c := range map[string]struct {
		answer  func(net.Conn, string)
		want    string
		refused bool
	}{
		"refused":           {say(`{"error":"it is bound already"}` + "\n"), "it is bound already", true},
		"refused in colour": {say(`{"error":"a\n\u001b[31mb"}` + "\n"), `a\n\x1b[31mb`, true},
		"no answer":         {say(""), "its answer: empty, want a JSON value", false},
		"half an answer":    {say("{"), "its answer: not JSON: it ends too early", false},
		"another answer":    {say(`{"ok":true}` + "\n"), "its answer: /ok: unknown", false},
	} {
		t.Run(name, func(t *testing.T) {
			socket := blank(t, c.answer)
			err := client.BindProxy(t.Context(), socket, client.ProxyBind{Upstream: "direct"})
			if want := "binding the proxy at " + socket + ": " + c.want; message(err) != want {
				t.Errorf("\n got %v\nwant %s", err, want)
			}
			if errors.Is(err, client.ErrRequest) != c.refused {
				t.Errorf("it is a refusal of the bind: %v", !c.refused)
			}
		})
	}
	if err := client.BindProxy(t.Context(), filepath.Join(t.TempDir(), "none"), client.ProxyBind{Upstream: "direct"}); err == nil {
		t.Error("bound to nothing")
	}
	if err := client.BindProxy(t.Context(), "/nowhere", client.ProxyBind{}); !errors.Is(err, client.ErrRequest) || !strings.Contains(err.Error(), "/upstream: ") {
		t.Errorf("a bind that is none: %v", err)
	}
}

// A proxy that refuses who calls, without reading what is sent, is heard.
func TestBindProxyUnread(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "control")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if conn, err := l.Accept(); err == nil {
			conn.Write([]byte(`{"error":"only its own user"}` + "\n"))
			conn.Close()
		}
	}()
	// More than a socket's buffer holds, so that the sending fails.
	hosts := make([]string, 20000)
	for i := range hosts {
		hosts[i] = "a-host-of-a-certain-length.example"
	}
	err = client.BindProxy(t.Context(), socket, client.ProxyBind{Upstream: "direct", Host: hosts})
	if err == nil || !strings.HasSuffix(err.Error(), ": only its own user") {
		t.Errorf("%v", err)
	}
}

// A proxy that hangs is not waited for longer than the caller wants.
func TestBindProxyEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("no more patience")
	socket := blank(t, func(conn net.Conn, _ string) {
		cancel(why)
		conn.Read(make([]byte, 1))
	})
	if err := client.BindProxy(ctx, socket, client.ProxyBind{Upstream: "direct"}); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}
