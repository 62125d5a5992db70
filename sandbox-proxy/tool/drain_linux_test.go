package tool

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tool/frame"
)

// A daemon writes on where its tool wrote, a little at a time or all it can, and
// is in a session of its own before the tool ends. It ends with the folder.
const daemonScript = `setsid /bin/sh -c 'ulimit -t 60; trap "" PIPE; echo $$ >pid.new; mv pid.new pid; while [ -e pid ]; do %s; done' &
until [ -s pid ]; do sleep 0.01; done; echo done`

// What a tool left writes on: its call ends all the same, whoever reads it, and
// so does the host.
func TestDaemonWritesOn(t *testing.T) {
	const little, much = "echo x; sleep 0.05", "echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
	for _, c := range []struct {
		way, writes string
		call        func(*testing.T, *lab)
	}{
		{"in frames", much, func(t *testing.T, l *lab) {
			w := l.call(of(frame.Go))
			for end := false; !end; { // as one that takes what it is given
				k, b, err := w.r.Next()
				switch {
				case err != nil:
					t.Error(err)
					return
				case k == frame.Output:
					w.send(of(frame.Credit, frame.CreditBytes(frame.Output, len(b))...))
				}
				end = k == frame.Exit
			}
		}},
		{"in frames, cut", little, func(_ *testing.T, l *lab) {
			w := l.call(of(frame.Go))
			w.until(frame.Output)
			w.c.Close()
		}},
		{"as JSON", little, func(t *testing.T, l *lab) { posted(t, l, "application/json", `{"args":[]}`) }},
		{"as it is", much, func(t *testing.T, l *lab) { posted(t, l, "text/plain", "") }},
	} {
		t.Run(c.way, func(t *testing.T) {
			t.Parallel()
			l := start(t, fmt.Sprintf(daemonScript, c.writes))
			c.call(t, l)
			pid := daemonOf(t, l)
			closed := during(l.host.Close)
			select {
			case <-closed:
			case <-time.After(patience):
				t.Error("the host waits for what its tool left")
			}
			if err := unix.Kill(pid, 0); err != nil {
				t.Error("the daemon was gone before:", err)
			}
			unix.Kill(pid, unix.SIGKILL)
			<-closed
		})
	}
}

// during does something and closes what it gives when that is done.
func during(do func() error) chan struct{} {
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	return done
}

func posted(t *testing.T, l *lab, kind, body string) {
	client := http.Client{Timeout: patience}
	defer client.CloseIdleConnections()
	resp, err := client.Post("http://"+l.at, kind, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(b), "done") && len(b) < 4<<10 {
		t.Errorf("%s: %.80q %v", kind, b, err)
	}
}

// daemonOf gives the daemon's number, once it has said it.
func daemonOf(t *testing.T, l *lab) int {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if b, err := os.ReadFile(filepath.Join(l.dir, "pid")); err == nil {
			pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
			if pid > 1 {
				return pid
			}
		}
	}
	t.Fatal("no daemon came up")
	return 0
}
