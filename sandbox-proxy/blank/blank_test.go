package blank

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of these tests. Nothing is measured by it.
const patience = 20 * time.Second

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "x.sock"))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func dial(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	c, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(patience))
	t.Cleanup(func() { c.Close() })
	return c
}

// Every call has a 503, whole; SOCKS is refused in its own words; what is
// neither is ended.
func TestBlankAnswers(t *testing.T) {
	b := NewListener(listen(t))
	defer b.Close()
	for _, call := range []string{
		"CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n", "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
		"GET /tool/gh/ HTTP/1.1\r\nHost: x\r\n\r\n", "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nabc",
		"A" + strings.Repeat("x", maxHead),
	} {
		c := dial(t, b)
		go io.WriteString(c, call)
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("%.20q: %v", call, err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != 503 || int64(len(body)) != r.ContentLength || r.Header.Get("Retry-After") == "" {
			t.Errorf("%.20q: %v %q, %v", call, r, body, err)
		}
	}
	for call, want := range map[string]string{"\x05\x01\x00": "\x05\xff", "\x16\x03\x01": answer} {
		c := dial(t, b)
		io.WriteString(c, call)
		got, _ := io.ReadAll(c)
		if string(got) != want {
			t.Errorf("%q: %q", call, got)
		}
	}
}

func TestOpen(t *testing.T) {
	b := NewListener(listen(t))
	waits := dial(t, b) // before it was opened: it has a 503, even so
	io.WriteString(waits, "GET / HTTP/1.1\r\n")
	first := dial(t, b)
	io.WriteString(first, "GET / HTTP/1.1\r\n\r\n")
	if got, _ := io.ReadAll(first); !strings.HasPrefix(string(got), "HTTP/1.1 503 ") {
		t.Errorf("before: %q", got)
	}
	b.Open()
	dial(t, b)
	c, err := b.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	io.WriteString(waits, "\r\n")
	if got, _ := io.ReadAll(waits); !strings.HasPrefix(string(got), "HTTP/1.1 503 ") {
		t.Errorf("from before: %q", got)
	}
	hangs := dial(t, b)
	b.Close()
	if _, err := b.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	io.ReadAll(hangs)
}

// The first bind that succeeds is the only one, and who may not bind is not
// heard.
func TestControl(t *testing.T) {
	l := listen(t)
	var uid atomic.Int32
	var binds []string // under the control's own lock, and read when it has ended
	c := &Control{
		Peer: func(net.Conn) (int, error) { return int(uid.Load()), nil },
		May:  func(uid int) bool { return uid == 1 },
		Bind: func(b client.ProxyBind) error {
			binds = append(binds, b.Name)
			if b.Name == "bad" {
				return errors.New("cannot be")
			}
			return nil
		},
	}
	served := make(chan error, 1)
	go func() { served <- c.Serve(l) }()
	ask := func(line string) string {
		conn := dial(t, l)
		go io.WriteString(conn, line+"\n")
		defer conn.Close()
		got, err := io.ReadAll(conn)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(got))
	}
	for _, step := range []struct {
		uid        int32
		line, want string
	}{
		{2, `{"upstream":"direct","name":"a"}`, `{"error":"user 2 may not bind this proxy"}`},
		{1, `{"upstream":"direct","nam":"a"}`, `{"error":"/nam: unknown`},
		{1, `{"upstream":"direct","name":"bad"}`, `{"error":"cannot be"}`},
		{1, `{"upstream":"direct","name":"a","routes":[{"name":"open","open":{}}]}`, `{"error":"/caller: missing`},
		{1, `{"upstream":"direct","name":"a"}`, `{}`},
		{1, `{"upstream":"direct","name":"b"}`, `{"error":"this proxy is bound already`},
		{2, `{"upstream":"direct","name":"b"}`, `{"error":"user 2 may not`},
	} {
		uid.Store(step.uid)
		if got := ask(step.line); !strings.HasPrefix(got, step.want) {
			t.Errorf("%s: %s, want %s", step.line, got, step.want)
		}
	}
	l.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if strings.Join(binds, " ") != "bad a" {
		t.Errorf("binds: %q", binds)
	}
}
