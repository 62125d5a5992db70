package shim

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

func TestVariableIsTheRoutes(t *testing.T) {
	for _, name := range []string{"gh", "Gh", "a.b-c_d", "0", "Z9z", "x@y[z]", "zA`{"} {
		if got, want := variable(name), route.ToolVariable(name); got != want {
			t.Errorf("%q: %s, and the route's is %s", name, got, want)
		}
	}
}

func TestCalled(t *testing.T) {
	t.Setenv("LNK_TOOL_GH_X", "http://127.0.0.1:1/tool/gh-x")
	t.Setenv("LNK_TOOL_EMPTY", "")
	t.Setenv("LNK_SANDBOX_OPEN", "http://127.0.0.1:1/open/open")
	for argv0, is := range map[string]bool{
		"gh-x": true, "/run/lnk/bin/gh-x": true, "./gh-x": true, "empty": false, "other": false, "xdg-open": true, "open": false, "": false,
	} {
		c, got := Called([]string{argv0, "a"})
		if got != is {
			t.Errorf("%q: %v", argv0, got)
		}
		if want := argv0 == "xdg-open"; c.opens != want {
			t.Errorf("%q opens pages: %v", argv0, c.opens)
		}
	}
	if _, is := Called(nil); is {
		t.Error("a process without a name was called")
	}
	t.Setenv("LNK_TOOL_XDG_OPEN", "http://127.0.0.1:1/tool/xdg-open")
	if c, _ := Called([]string{"xdg-open"}); c.opens {
		t.Error("a tool that is called xdg-open opens pages")
	}
}

func TestAddresses(t *testing.T) {
	for _, address := range []string{
		"", "127.0.0.1:1/x", "https://127.0.0.1:1/x", "http://", "http:///x", "http://localhost:1/x", "http://127.0.0.1/x", "http://127.0.0.1:0/x",
		"http://127.0.0.1:65536/x", "http://127.0.0.1:1/x y", "http://127.0.0.1:1/x\r\nA: b", "http://127.0.0.1:1/x\x00", "http://a@127.0.0.1:1/x",
		"http://[::1%lo]:1/x", "http://127.0.0.1:1/\x80", "http://127.1:1/x",
	} {
		to, err := dial(address)
		if err == nil {
			to.Close()
		}
		if err == nil || err.Error() != "its address in the environment is none" {
			t.Errorf("%q: error %v", address, err)
		}
	}
}

func TestConnects(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", at)
		if err != nil && strings.HasPrefix(at, "[") {
			t.Log("no IPv6 here: ", err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		address := "http://" + l.Addr().String()
		to, err := dial(address)
		if err != nil {
			t.Fatal(err)
		}
		if to.path != "/" || to.host != l.Addr().String() {
			t.Errorf("the path is %q of %q", to.path, to.host)
		}
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		go func() { io.WriteString(to, "hello"); to.Close() }()
		if b, err := io.ReadAll(c); string(b) != "hello" {
			t.Errorf("said %q, %v", b, err)
		}
		c.Close()
		l.Close()
		if to, err := dial(address); err == nil {
			to.Close()
			t.Error("connected to nobody")
		}
	}
}

func TestReadAnswer(t *testing.T) {
	for _, c := range []struct {
		name, text string
		status     int
		body       string
		bad        bool // the head, or a body that ends badly
	}{
		{name: "whole", text: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc", status: 200, body: "ab"},
		{name: "to the end", text: "HTTP/1.0 403\r\n\r\nno\nmore", status: 403, body: "no\nmore"},
		{name: "past others", text: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 P\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n\r\nx", status: 200, body: "x"},
		{name: "in chunks", text: "HTTP/1.1 200 OK\r\ntransfer-ENCODING: Chunked\r\n\r\n2;x=y\r\nab\r\n1\r\nc\r\n0\r\n\r\n", status: 200, body: "abc"},
		{name: "cut in a chunk", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", status: 200, body: "ab", bad: true},
		{name: "a chunk below nothing", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nab", status: 200, bad: true},
		{name: "a chunk without its end", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n", status: 200, body: "a", bad: true},
		{name: "a length below nothing", text: "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", bad: true},
		{name: "a length that is none", text: "HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\n", bad: true},
		{name: "another protocol", text: "SSH-2.0-x\r\n\r\n", bad: true},
		{name: "no status", text: "HTTP/1.1 abc\r\n\r\n", bad: true},
		{name: "nothing", bad: true},
		{name: "cut", text: "HTTP/1.1 200 OK\r\nA: b\r\n", bad: true},
		{name: "a line without an end", text: "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("b", maxLine), bad: true},
		{name: "headers without an end", text: "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", maxHeaders+1) + "\r\n", bad: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := readAnswer(iotest.OneByteReader(strings.NewReader(c.text)))
			if err != nil {
				if !c.bad || c.status != 0 {
					t.Fatal(err)
				}
				return
			}
			body, err := io.ReadAll(a.body)
			if a.status != c.status || string(body) != c.body || (err != nil) != c.bad {
				t.Errorf("%d %q, %v", a.status, body, err)
			}
		})
	}
}

func TestLineOfAnAnswer(t *testing.T) {
	for body, want := range map[string]string{
		"why\nmore": "why", "why": "why", "": "the sandbox's proxy answered 502", "\nx": "the sandbox's proxy answered 502",
	} {
		if got := (answer{502, strings.NewReader(body)}).line(); got != want {
			t.Errorf("%q: %q", body, got)
		}
	}
	if got := (answer{502, strings.NewReader(strings.Repeat("x", 2*maxWhy))}).line(); len(got) != maxWhy {
		t.Errorf("a line of %d bytes", len(got))
	}
}

// What is written in chunks reads the same, however it is cut.
func TestChunks(t *testing.T) {
	var b bytes.Buffer
	w := &chunks{w: &b}
	parts := []string{"a", "", strings.Repeat("b", 300), "c"}
	for _, p := range parts {
		if n, err := io.WriteString(w, p); n != len(p) || err != nil {
			t.Fatal(n, err)
		}
	}
	b.WriteString("0\r\n\r\n")
	a, err := readAnswer(io.MultiReader(strings.NewReader("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), iotest.OneByteReader(&b)))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(a.body); string(got) != strings.Join(parts, "") {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := (&chunks{w: broken{}}).Write([]byte("x")); err == nil {
		t.Error("a write that failed did not say so")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("gone") }
