package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// A typist runs a command on a terminal of its own, types and reads.
type typist struct {
	t   *testing.T
	tty *os.File
	cmd *exec.Cmd

	mu   sync.Mutex
	seen bytes.Buffer
	read int
}

func (s *sandbox) onTerminal(t *testing.T, argv ...string) *typist {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = s.project, s.env("PS1=$ ")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	y := &typist{t: t, tty: tty, cmd: cmd}
	t.Cleanup(func() { cmd.Process.Kill(); tty.Close() })
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := tty.Read(b)
			y.mu.Lock()
			y.seen.Write(b[:n])
			y.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return y
}

// see waits for text behind what was seen before.
func (y *typist) see(text string) {
	y.t.Helper()
	for end := time.Now().Add(hangGuard / 2); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		y.mu.Lock()
		rest := y.seen.String()[y.read:]
		at := strings.Index(rest, text)
		if at >= 0 {
			y.read += at + len(text)
		}
		y.mu.Unlock()
		if at >= 0 {
			return
		}
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	y.t.Fatalf("%q did not come; seen %q", text, y.seen.String())
}

// all is what was seen from the start.
func (y *typist) all() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.seen.String()
}

func (y *typist) enter(text string) {
	y.t.Helper()
	if _, err := y.tty.WriteString(text); err != nil {
		y.t.Fatal(err)
	}
}

// Ctrl-C reaches the program once, and a program that catches it lives on.
func TestCtrlC(t *testing.T) {
	for _, net := range []string{"", allow} {
		s := newSandbox(t)
		script := `trap 'echo caught-one' INT; echo ready; read line; echo "got $line"; exit 12`
		y := s.onTerminal(t, slices.DeleteFunc([]string{lnk(), "sandbox", "run", "--yes", "--write", s.project, net, "--", "bash", "-c", script}, func(a string) bool { return a == "" })...)
		y.see("ready")
		y.enter("\x03")
		y.see("caught-one")
		y.enter("hello\n")
		y.see("got hello")
		if status := waitFor(t, y.cmd); status != 12 {
			t.Errorf("status %d", status)
		}
		if strings.Count(y.all(), "caught-one") != 1 {
			t.Errorf("caught more than once: %q", y.all())
		}
	}
}

// Ctrl-C ends a program that does not catch it, with the shell's status, and the
// loop that it is in, as it does without a sandbox. A program that ends otherwise
// has taken it for itself, and the loop goes on.
func TestCtrlCEnds(t *testing.T) {
	for _, net := range []string{"", allow} {
		s := newSandbox(t)
		run := lnk() + " sandbox run --yes --write " + s.project + " " + net + " -- "
		y := s.onTerminal(t, "bash", "--norc", "-i")
		y.see("$ ")
		y.enter("for i in 1 2; do " + run + "sh -c 'echo rea''dy; exec sleep 100'; done; echo lo''op\n")
		y.see("ready")
		y.enter("\x03")
		y.see("$ ")
		y.enter("echo status $?\n")
		y.see("status 130")
		if strings.Contains(y.all(), "loop\r\n") {
			t.Errorf("the loop went on: %q", y.all())
		}

		script := "for i in 1 2; do " + run + "sh -c 'trap \"exit 5\" INT; echo ready $0; while :; do sleep 0.1; done' $i; done; " + run + "sh -c 'echo last; exec sleep 100'; echo end"
		y = s.onTerminal(t, "bash", "--norc", "-c", script)
		for _, at := range []string{"ready 1", "ready 2", "last"} {
			y.see(at)
			y.enter("\x03")
		}
		waitFor(t, y.cmd)
		if ws := y.cmd.ProcessState.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != syscall.SIGINT {
			t.Errorf("the script: %v: %q", y.cmd.ProcessState, y.all())
		}
	}
}

// With nobody else on its terminal it ends with the status alone.
func TestCtrlCEndsALeader(t *testing.T) {
	s := newSandbox(t)
	y := s.onTerminal(t, lnk(), "sandbox", "run", "--yes", "--write", s.project, "--", "sh", "-c", "echo ready; exec sleep 100")
	y.see("ready")
	y.enter("\x03")
	if status := waitFor(t, y.cmd); status != 130 {
		t.Errorf("%v", y.cmd.ProcessState)
	}
}

// Ctrl-Z stops the program and gives the shell back; fg goes on.
func TestCtrlZ(t *testing.T) {
	for _, net := range []string{"", allow} {
		s := newSandbox(t)
		y := s.onTerminal(t, "bash", "--norc", "-i")
		y.see("$ ")
		y.enter(lnk() + " sandbox run --yes --write . " + net + " -- sh -c 'echo rea''dy; read line; echo go''t $line; exit 5'\n")
		y.see("ready")
		y.enter("\x1a")
		y.see("Stopped")
		y.enter("echo shell-$((40+2))\n")
		y.see("shell-42")
		y.enter("fg\n")
		y.see("sandbox run")
		y.enter("again\n")
		y.see("got again")
		y.enter("echo status-$?\n")
		y.see("status-5")
		y.enter("exit\n")
		waitFor(t, y.cmd)
	}
}

// The shell has the terminal back once the program has stopped, and no sooner: what
// is typed for the one is not read by the other.
func TestCtrlZWaits(t *testing.T) {
	const cleans = `import os, signal, time
on = True
def clean(*_):
  global on
  time.sleep(0.4); print('cle'+'aned'); os.kill(os.getpid(), signal.SIGSTOP); on = False
signal.signal(signal.SIGTSTP, clean)
print('rea'+'dy')
while on: time.sleep(0.05)
print('wen'+'t on')
`
	for _, net := range []string{"", allow} {
		s := newSandbox(t)
		s.put("cleans.py", cleans)
		y := s.onTerminal(t, "bash", "--norc", "-i")
		y.see("$ ")
		y.enter(lnk() + " sandbox run --yes --write . " + net + " -- /usr/bin/python3 -Su cleans.py\n")
		y.see("ready")
		y.enter("\x1a")
		y.see("Stopped")
		if !strings.Contains(y.all(), "cleaned") {
			t.Errorf("the shell is told before the program has stopped: %q", y.all())
		}
		y.see("$ ")
		y.enter("fg; exit\n")
		y.see("went on")
		waitFor(t, y.cmd)
	}
}

// A job that is stopped behind its shell and let go on, at once or later, goes on whole; one that is told alone
// passes it on.
func TestStoppedAndLetGoOn(t *testing.T) {
	const script = `trap "echo to''ld" TSTP; trap "echo us''er" USR1; echo rea''dy; while :; do sleep 0.05; done`
	for _, net := range []string{"", allow} {
		s := newSandbox(t)
		s.put("traps.sh", script)
		s.put("waits.sh", strings.Replace(script, `trap "echo to''ld" TSTP;`, "", 1))
		run := lnk() + " sandbox run --yes --write . " + net + " -- sh "
		y := s.onTerminal(t, "bash", "--norc", "-i")
		y.see("$ ")
		y.enter(run + "traps.sh & job=$!\n")
		y.see("ready")
		y.enter("kill -TSTP $job\n")
		y.see("told")
		y.enter("kill $job; wait $job; echo en''ded\n")
		y.see("ended")

		y.enter(run + "waits.sh & job=$!\n")
		y.see("ready")
		// By somebody else: the loop of a shell ends when a job of its own stops.
		y.enter("sh -c 'for i in 1 2 3 4 5 6; do kill -TSTP -$0; sleep 0.$1; kill -CONT -$0; sleep 0.3; done; kill -USR1 $0' $job $((RANDOM % 3))\n")
		y.see("user")
		y.enter("kill $job; wait $job; echo en''ded; exit\n")
		y.see("ended")
		waitFor(t, y.cmd)
	}
}

// A shell inside has job control, the window's size, and a terminal that
// nothing can be typed into.
func TestShellInside(t *testing.T) {
	s := newSandbox(t)
	s.put("inject.py", "import fcntl,sys\nfor r in (0x5412, 0x541C):\n  try: fcntl.ioctl(0, r, b'x'); print('inje'+'cted')\n  except OSError as e: print('refused', e.errno)\n")
	y := s.onTerminal(t, lnk(), "sandbox", "run", "--yes", "--write", s.project, "--", "bash", "--norc", "-i")
	y.see("bash-")
	y.enter("stty size; tty; echo x > /dev/tty\n")
	y.see("24 80")
	y.enter("sleep 100\n")
	time.Sleep(300 * time.Millisecond) // bash hands the terminal to its job
	y.enter("\x1a")
	y.see("Stopped")
	y.enter("kill %1; wait; python3 --version; /usr/bin/python3 inject.py; echo do''ne\n")
	y.see("done")
	if strings.Contains(y.all(), "injected") {
		t.Error("a character was pushed into the terminal")
	}
	if err := pty.Setsize(y.tty, &pty.Winsize{Rows: 40, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	y.enter("stty size\n")
	y.see("40 100")
	y.enter("exit 6\n")
	if status := waitFor(t, y.cmd); status != 6 {
		t.Errorf("status %d", status)
	}
}

// What is piped into a program leaves it the terminal that it writes to, to ask on.
func TestTerminalBesideAPipe(t *testing.T) {
	for _, net := range []string{"", allow} {
		s := newSandbox(t)
		y := s.onTerminal(t, "bash", "--norc", "-i")
		y.see("$ ")
		y.enter("echo pi''ped | " + lnk() + " sandbox run --yes --write . " + net + " -- sh -c 'read a; echo as''ks; read b < /dev/tty; echo go''t $a $b'\n")
		y.see("asks")
		y.enter("typed\n")
		y.see("got piped typed")
		y.see("$ ")
		y.enter("echo pi''ped | " + lnk() + " sandbox run --yes --write . " + net + " -- sh -c 'exec sleep 100'; echo af''ter\n")
		time.Sleep(300 * time.Millisecond)
		y.enter("\x03")
		y.see("$ ")
		y.enter("exit\n")
		waitFor(t, y.cmd)
	}
}

// Without a terminal of its own the program has none to open.
func TestNoTerminal(t *testing.T) {
	s := newSandbox(t)
	y := s.onTerminal(t, lnk(), "sandbox", "run", "--yes", "--terminal=false", "--write", s.project, "--", "sh", "-c", "(echo x > /dev/tty) 2>/dev/null && echo opened || echo no terminal")
	y.see("no terminal")
	if status := waitFor(t, y.cmd); status != 0 {
		t.Errorf("status %d", status)
	}
}

// In a terminal, run asks and takes a no for a no.
func TestRunAsks(t *testing.T) {
	for answer, status := range map[string]int{"y\n": 0, "n\n": 125, "\n": 125} {
		s := newSandbox(t)
		y := s.onTerminal(t, lnk(), "sandbox", "run", "--write", s.project, allow, "--", "true")
		y.see("reaches ")
		y.see("[y/N] ")
		y.enter(answer)
		if got := waitFor(t, y.cmd); got != status {
			t.Errorf("%q: status %d, want %d", answer, got, status)
		}
	}
}
