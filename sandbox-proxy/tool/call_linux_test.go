package tool

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tool/frame"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of the tests.
const patience = 20 * time.Second

// A lab is a host whose one tool is a shell script, behind a server.
type lab struct {
	t    *testing.T
	host *Host
	at   string
	dir  string
}

func start(t *testing.T, script string) *lab {
	t.Helper()
	dir := real(t, t.TempDir())
	h, err := New(Config{Sandbox: "web", Environ: os.Environ(), Write: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h.Tool("t", route.Tool{Argv: []string{"/bin/sh", "-c", script, "t"}, Ask: route.AskNone}))
	l := &lab{t: t, host: h, at: s.Listener.Addr().String(), dir: dir}
	t.Cleanup(func() {
		h.Close()
		s.CloseClientConnections()
		s.Close()
	})
	return l
}

// A caller is one call in frames, by hand.
type caller struct {
	t *testing.T
	c net.Conn
	r *frame.Reader
}

// call begins a call and gives it once it is answered.
func (l *lab) call(frames ...[]byte) *caller {
	l.t.Helper()
	c, err := net.Dial("tcp", l.at)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n", frame.ContentType)
	w := &caller{t: l.t, c: c}
	for _, f := range frames {
		w.send(f)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		l.t.Fatal(err)
	}
	if resp.StatusCode != 200 {
		b, _ := io.ReadAll(resp.Body)
		l.t.Fatal(resp.Status, string(b))
	}
	w.r = frame.NewReader(resp.Body)
	return w
}

func (w *caller) send(f []byte) { fmt.Fprintf(w.c, "%x\r\n%s\r\n", len(f), f) }

func of(k frame.Kind, payload ...byte) []byte {
	b, _ := frame.Append(nil, k, payload)
	return b
}

// until reads to a frame of a kind, and gives its payload and the output before.
func (w *caller) until(kind frame.Kind) (payload, output string) {
	w.t.Helper()
	for {
		k, b, err := w.r.Next()
		if err != nil {
			w.t.Fatalf("%c did not come: %v", kind, err)
		}
		if k == kind {
			return string(b), output
		}
		if k == frame.Output {
			output += string(b)
		}
	}
}

// cut says whether the bridge ends the call: what is read comes to an end.
func (w *caller) cut() {
	w.t.Helper()
	for {
		k, _, err := w.r.Next()
		if err != nil || k == frame.Exit || k == frame.Refused {
			if ne, is := err.(net.Error); is && ne.Timeout() {
				w.t.Error("the call goes on")
			}
			return
		}
	}
}

// gone waits until no process has the text in its command line.
func gone(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		var at string
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, f := range files {
			if b, _ := os.ReadFile(f); strings.Contains(string(b), text) {
				at = f
			}
		}
		if at == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatal("it still runs: ", at)
		}
	}
}

func mark() string { return fmt.Sprintf("7%d", time.Now().UnixNano()) }

// What breaks the rules of a call ends it, and with it the tool.
func TestBrokenCalls(t *testing.T) {
	m := mark()
	l := start(t, "sleep "+m)
	begin := [][]byte{of(frame.Word, 'x'), of(frame.Go)}
	window := make([]byte, frame.MaxPart)
	for name, more := range map[string][][]byte{
		"an unknown frame":       {of('?')},
		"a word too late":        {of(frame.Word, 'x')},
		"a frame of the bridge":  {of(frame.Exit, 0, 0)},
		"more than a window":     slices.Repeat([][]byte{of(frame.Input, window...)}, frame.WindowSize/frame.MaxPart+4), // the pipe to the tool holds two
		"input after its end":    {of(frame.InputEnd), of(frame.Input, 1)},
		"credit that is not due": {of(frame.Credit, frame.CreditBytes(frame.Output, frame.WindowSize)...)},
		"credit for nothing":     {of(frame.Credit, frame.CreditBytes('q', 1)...)},
		"a frame past the bound": {{byte(frame.Input), 0xff, 0xff, 0xff}},
		"a size that is none":    {of(frame.Size, 1)},
		"the end of the body":    {{}},
	} {
		t.Run(name, func(t *testing.T) {
			w := l.call(begin...)
			w.until(frame.Started)
			for _, f := range more {
				w.send(f)
			}
			w.cut()
			w.c.Close()
		})
	}
	for name, frames := range map[string][][]byte{
		"a NUL":           {of(frame.Word, 'a', 0), of(frame.Go)},
		"nothing at all":  {{}},
		"input at first":  {of(frame.Input, 'x')},
		"a bad terminal":  {of(frame.Terminal, 1), of(frame.Go)},
		"a folder of NUL": {of(frame.Folder, '/', 0), of(frame.Go)},
	} {
		t.Run(name, func(t *testing.T) { l.call(frames...).until(frame.Refused) })
	}
	gone(t, m)
}

// Signals come through whatever stands in the streams.
func TestSignalPastFullStreams(t *testing.T) {
	l := start(t, `trap 'exit 9' INT; yes & while :; do sleep 0.05; done`)
	w := l.call(of(frame.Go))
	w.until(frame.Started)
	for range frame.WindowSize / frame.MaxPart {
		w.send(of(frame.Input, make([]byte, frame.MaxPart)...)) // never read
	}
	got := 0
	for got < frame.WindowSize { // and never taken
		k, b, err := w.r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if k == frame.Output {
			got += len(b)
		}
	}
	w.send(of(frame.Signal, byte(unix.SIGINT)))
	// Nothing more comes of output before it is taken.
	w.send(of(frame.Credit, frame.CreditBytes(frame.Output, frame.WindowSize)...))
	for {
		k, b, err := w.r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if k == frame.Output {
			w.send(of(frame.Credit, frame.CreditBytes(frame.Output, len(b))...))
		}
		if k == frame.Exit {
			if e, _ := frame.ExitOf(b); e.Status != 9 {
				t.Errorf("%+v", e)
			}
			return
		}
	}
}

// A caller that goes, and one that reads nothing, leave nothing.
func TestGoneCaller(t *testing.T) {
	m := mark()
	l := start(t, `trap '' HUP; sleep `+m+` & yes `+m)
	for range 3 {
		w := l.call(of(frame.Go))
		w.until(frame.Started)
		w.c.Close()
	}
	gone(t, m)
}

// So many calls are made, and no more; one that ends makes room.
func TestCallsAtOnce(t *testing.T) {
	m := mark()
	l := start(t, "echo up; sleep "+m)
	var open []*caller
	for range maxCalls {
		w := l.call(of(frame.Go))
		w.until(frame.Output)
		open = append(open, w)
	}
	post := func() (int, string) {
		resp, err := http.Post("http://"+l.at, "text/plain", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode, resp.Header.Get("Retry-After")
	}
	for range 20 {
		if code, later := post(); code != http.StatusServiceUnavailable || later == "" {
			t.Fatal("one call more than may be:", code)
		}
	}
	for _, w := range open {
		w.c.Close()
	}
	gone(t, m)
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if len(l.host.calls) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("calls that are over keep their places")
		}
	}
}

// The end of the host is the end of its calls, asked about ones among them.
func TestHostCloses(t *testing.T) {
	m := mark()
	l := start(t, "trap '' TERM HUP; echo up; sleep "+m+"; sleep "+m)
	w := l.call(of(frame.Go))
	w.until(frame.Output)
	l.host.Close()
	gone(t, m)
	resp, err := http.Post("http://"+l.at, "text/plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusServiceUnavailable {
		t.Error(resp.Status)
	}
}

// What a tool leaves behind does not hold its call; what it wrote is all there.
func TestLeftBehind(t *testing.T) {
	m := mark()
	l := start(t, "setsid sleep "+m+" & head -c 3000000 /dev/zero | tr '\\0' x; exit 4")
	defer func() {
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, f := range files {
			var pid int
			if b, _ := os.ReadFile(f); strings.HasSuffix(string(b), m+"\x00") {
				fmt.Sscanf(f, "/proc/%d/", &pid)
				unix.Kill(pid, unix.SIGKILL)
			}
		}
	}()
	resp, err := http.Post("http://"+l.at, "text/plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || len(b) != 3000000 || resp.Trailer.Get(statusHeader) != "4" {
		t.Error(len(b), err, resp.Trailer)
	}
}

// An answer in JSON is bounded; input without an end is given as it is read.
func TestPlainForms(t *testing.T) {
	l := start(t, "head -c 5000000 /dev/zero; head -c 10 >&2")
	resp, err := http.Post("http://"+l.at, "application/json", strings.NewReader(`{"args":[],"stdin":"0123456789abc"}`))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if !strings.Contains(string(b), `"stderr":"0123456789","truncated":true`) && resp.StatusCode != 500 {
		t.Errorf("%s %.200s … %.100s", resp.Status, b, b[max(0, len(b)-100):])
	}
	endless := start(t, "head -c 100000 | wc -c")
	resp, err = http.Post("http://"+endless.at, "text/plain", zeros{})
	if err != nil {
		t.Fatal(err)
	}
	b, err = io.ReadAll(resp.Body)
	resp.Body.Close()
	if string(b) != "100000\n" || err != nil {
		t.Errorf("%q %v", b, err)
	}
	http.DefaultClient.CloseIdleConnections()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
