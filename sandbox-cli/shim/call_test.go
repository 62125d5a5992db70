package shim

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tool/frame"
)

func TestMain(m *testing.M) {
	if call, is := Called(os.Args); is {
		os.Exit(call.Run())
	}
	os.Exit(m.Run())
}

// A bridge is a made-up one: what it says and hears of one call.
type bridge struct {
	t    *testing.T
	from *frame.Reader
	to   *frame.Writer
	// of the call
	words    []string
	folder   string
	terminal bool
}

// served gives the address of a proxy that answers each call of a tool with do.
func served(t *testing.T, do func(*bridge)) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		if err := control.EnableFullDuplex(); err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != frame.ContentType || r.URL.Path != "/secret/tool/fake" {
			t.Errorf("%s %s, %v: %v", r.Method, r.URL, r.Header, err)
		}
		w.WriteHeader(http.StatusOK)
		control.Flush()
		b := &bridge{t: t, from: frame.NewReader(r.Body), to: frame.NewWriter(w, control.Flush)}
		for {
			k, p, err := b.from.Next()
			switch {
			case err != nil:
				t.Error("no description: ", err)
				return
			case k == frame.Word:
				b.words = append(b.words, string(p))
			case k == frame.Folder:
				b.folder = string(p)
			case k == frame.Terminal:
				b.terminal = true
			}
			if k == frame.Go {
				break
			}
		}
		do(b)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/secret/tool/fake"
}

func (b *bridge) say(k frame.Kind, payload string) { b.to.Write(k, []byte(payload)) }

// next gives the next frame of a kind.
func (b *bridge) next(want frame.Kind) []byte {
	for {
		k, p, err := b.from.Next()
		if err != nil {
			b.t.Errorf("no %c: %v", want, err)
			return nil
		}
		if k == want {
			return p
		}
	}
}

func (b *bridge) exit(e frame.Ended) { b.to.Write(frame.Exit, e.Bytes()) }

// patience bounds a call that hangs.
const patience = time.Minute

// calling is a call of the tool at an address, as a process of its own.
func calling(t *testing.T, address string, words ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = append([]string{"fake"}, words...)
	cmd.Dir, cmd.Env = t.TempDir(), []string{"LNK_TOOL_FAKE=" + address, "PWD=/evil"}
	return cmd
}

type end struct {
	out, errs string
	status    syscall.WaitStatus
}

func called(t *testing.T, cmd *exec.Cmd) end {
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return end{out.String(), errs.String(), cmd.ProcessState.Sys().(syscall.WaitStatus)}
}

func TestCallIsDescribed(t *testing.T) {
	words := []string{"", "a b", "-x", "--", "\x1b[31m", "\xff", strings.Repeat("w", 100<<10)}
	described := make(chan *bridge, 1)
	cmd := calling(t, served(t, func(b *bridge) { described <- b; b.exit(frame.Ended{Status: 7}) }), words...)
	e := called(t, cmd)
	got := <-described
	if e.status.ExitStatus() != 7 || e.out+e.errs != "" {
		t.Errorf("ended with %d, %q %q", e.status.ExitStatus(), e.out, e.errs)
	}
	if strings.Join(got.words, "\x00") != strings.Join(words, "\x00") || got.folder != cmd.Dir || got.terminal {
		t.Errorf("described as %q in %q, terminal %v", got.words, got.folder, got.terminal)
	}
}

func TestStreamsAreCarried(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 64<<10/16*9) // more than two windows
	cmd := calling(t, served(t, func(b *bridge) {
		b.say(frame.Started, "")
		var in strings.Builder
		for {
			k, p, err := b.from.Next()
			if err != nil || k == frame.InputEnd {
				break
			}
			if k == frame.Input {
				in.Write(p)
				b.to.Write(frame.Credit, frame.CreditBytes(frame.Input, len(p)))
			}
		}
		b.say(frame.Errors, "an error\n")
		window := frame.NewWindow()
		heard := make(chan bool) // of the end
		go func() {              // credit for what is said
			defer close(heard)
			for {
				k, p, err := b.from.Next()
				if err != nil {
					return
				}
				if k == frame.Credit {
					if s, n, err := frame.CreditOf(p); err == nil && s == frame.Output {
						window.Give(n)
					}
				}
			}
		}()
		for said := in.String(); said != ""; {
			n := window.Take(min(len(said), frame.MaxPart))
			b.say(frame.Output, said[:n])
			said = said[n:]
		}
		b.exit(frame.Ended{})
		<-heard
	}))
	cmd.Stdin = strings.NewReader(big)
	if e := called(t, cmd); e.out != big || e.errs != "an error\n" || e.status.ExitStatus() != 0 {
		t.Errorf("ended with %d, %d bytes of %d, %q", e.status.ExitStatus(), len(e.out), len(big), e.errs)
	}
}

// No more input is on the way than its window, however much there is.
func TestInputWaitsForCredit(t *testing.T) {
	cmd := calling(t, served(t, func(b *bridge) {
		b.say(frame.Started, "")
		got := 0
		for got < frame.WindowSize {
			got += len(b.next(frame.Input))
		}
		b.to.Write(frame.Credit, frame.CreditBytes(frame.Input, 1))
		if p := b.next(frame.Input); got != frame.WindowSize || len(p) != 1 {
			t.Errorf("%d bytes came for a window, and %d for one byte of credit", got, len(p))
		}
		b.exit(frame.Ended{})
	}))
	cmd.Stdin = strings.NewReader(strings.Repeat("x", 2*frame.WindowSize))
	if e := called(t, cmd); e.status.ExitStatus() != 0 {
		t.Errorf("ended with %d, %q", e.status.ExitStatus(), e.errs)
	}
}

// What is not made says why on one line that no terminal acts on.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*bridge)
		want string
	}{
		{"refused", func(b *bridge) { b.say(frame.Refused, "not \x1b]0;evil\x07 this\u009b1m") }, "lnk sandbox: fake: not ?]0;evil? this?1m\n"},
		{"told, then refused", func(b *bridge) { b.say(frame.Notice, "waits"); b.say(frame.Refused, "no") }, "lnk sandbox: fake: waits\nlnk sandbox: fake: no\n"},
		{"cut", func(b *bridge) { b.say(frame.Started, "") }, "lnk sandbox: fake: the call was cut off\n"},
		{"no end", func(b *bridge) { b.say(frame.Exit, "abc") }, "lnk sandbox: fake: the call was cut off\n"},
		{"a credit for nothing sent", func(b *bridge) { b.to.Write(frame.Credit, frame.CreditBytes(frame.Input, 1)) }, "lnk sandbox: fake: the call was cut off\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := calling(t, served(t, c.do))
			if e := called(t, cmd); e.errs != c.want || e.status.ExitStatus() != StatusRefused || e.out != "" {
				t.Errorf("ended with %d, %q %q", e.status.ExitStatus(), e.out, e.errs)
			}
		})
	}
}

// What the proxy answers a call that it does not pass on is said as it stands.
func TestRefusedByTheProxy(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		http.Error(w, "every wire is stopped\x1b[2J\nmore", http.StatusForbidden)
	}))
	defer s.Close()
	if e := called(t, calling(t, s.URL+"/tool/fake")); e.errs != "lnk sandbox: fake: every wire is stopped?[2J\n" || e.status.ExitStatus() != StatusRefused {
		t.Errorf("ended with %d, %q", e.status.ExitStatus(), e.errs)
	}
	s.Close()
	if e := called(t, calling(t, s.URL+"/tool/fake")); e.errs != "lnk sandbox: fake: the sandbox's proxy cannot be reached\n" || e.status.ExitStatus() != StatusRefused {
		t.Errorf("with no proxy ended with %d, %q", e.status.ExitStatus(), e.errs)
	}
}

// The caller sees the tool die of what it died of, and the tool gets the
// signals that the caller gets.
func TestSignals(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGABRT} {
		t.Run(s.String(), func(t *testing.T) {
			cmd := calling(t, served(t, func(b *bridge) {
				b.say(frame.Started, "")
				b.say(frame.Output, "here\n")
				if p := b.next(frame.Signal); len(p) != 1 || p[0] != byte(linuxNumber(s)) {
					t.Errorf("the signal came as %v", p)
				}
				b.exit(frame.Ended{Status: uint8(128 + s), Signal: uint8(s)})
			}))
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			io.ReadFull(out, make([]byte, 5)) // it watches for signals by now
			cmd.Process.Signal(s)
			io.Copy(io.Discard, out)
			cmd.Wait()
			if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != s {
				t.Errorf("it ended with %#x", status)
			}
		})
	}
}

// A stream that nobody reads any more is told of, so that the tool is.
func TestBrokenOutput(t *testing.T) {
	cmd := calling(t, served(t, func(b *bridge) {
		b.say(frame.Started, "")
		b.say(frame.Output, "first\n")
		b.next(frame.Signal) // by now it is closed
		b.say(frame.Output, "second\n")
		if p := b.next(frame.Broken); len(p) != 1 || frame.Kind(p[0]) != frame.Output {
			t.Errorf("broken is %q", p)
		}
		b.exit(frame.Ended{Status: 141, Signal: uint8(syscall.SIGPIPE)})
	}))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	io.ReadFull(out, make([]byte, 6))
	out.Close()
	cmd.Process.Signal(syscall.SIGUSR1)
	cmd.Wait()
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGPIPE {
		t.Errorf("it ended with %#x", status)
	}
}

func TestOpensPages(t *testing.T) {
	var mu sync.Mutex
	var asked string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		asked = r.Method + " " + r.URL.Path + " " + string(b)
		if strings.Contains(string(b), "no") {
			w.WriteHeader(http.StatusForbidden)
			io.WriteString(w, "the answer was no\n")
		}
	}))
	defer s.Close()
	for _, c := range []struct {
		words  []string
		status int
		errs   string
		asked  string
	}{
		{[]string{"https://a.example/x?y#z"}, 0, "", "POST /open/open https://a.example/x?y#z"},
		{[]string{"https://no.example"}, statusNotShown, "lnk sandbox: xdg-open: the answer was no\n", "POST /open/open https://no.example"},
		{[]string{"a\r\nHost: b"}, 0, "", "POST /open/open a\r\nHost: b"}, // judged outside
		{[]string{"--help"}, statusUsage, "lnk sandbox: xdg-open: want one address, http or https\n", ""},
		{[]string{"a", "b"}, statusUsage, "lnk sandbox: xdg-open: want one address, http or https\n", ""},
		{nil, statusUsage, "lnk sandbox: xdg-open: want one address, http or https\n", ""},
	} {
		mu.Lock()
		asked = ""
		mu.Unlock()
		cmd := calling(t, "")
		cmd.Args, cmd.Env = append([]string{"xdg-open"}, c.words...), []string{"LNK_SANDBOX_OPEN=" + s.URL + "/open/open"}
		e := called(t, cmd)
		mu.Lock()
		if e.status.ExitStatus() != c.status || e.errs != c.errs || e.out != "" || asked != c.asked {
			t.Errorf("%q: ended with %d, %q, asked %q", c.words, e.status.ExitStatus(), e.errs, asked)
		}
		mu.Unlock()
	}
}
