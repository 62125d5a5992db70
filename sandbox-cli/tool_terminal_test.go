package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// word reads the word that a question wants as its answer.
func (y *typist) word() string {
	y.t.Helper()
	y.see("this once, Enter alone to refuse: ")
	y.mu.Lock()
	defer y.mu.Unlock()
	all := regexp.MustCompile(`type (\S+) and Enter`).FindAllStringSubmatch(y.seen.String()[:y.read], -1)
	return all[len(all)-1][1]
}

// A tool used on a terminal has one: its size, its modes, Ctrl-C, Ctrl-Z.
func TestToolOnTerminal(t *testing.T) {
	s := newSandbox(t)
	s.tool("talk", `trap 'echo caught-it' INT; test -t 0 && test -t 1 && test -t 2 && echo all-three; stty size; echo ready; read a || read a; echo "got $a"; stty -echo; echo unseen:; read b; stty echo; echo "hidden $b"; stty size; exit 5`, never)
	y := s.onTerminal(t, lnk(), "sandbox", "run", "--yes", "--write="+s.project, "--tool=talk", "--", "bash", "--norc", "-i")
	y.see("bash-")
	y.enter("talk; echo status-$?\n")
	y.see("all-three")
	y.see("24 80")
	y.see("ready")
	y.enter("\x03")
	y.see("caught-it")
	y.enter("hello\n")
	y.see("got hello")
	y.see("unseen:")
	y.enter("quiet\n")
	y.see("hidden quiet")
	if strings.Contains(y.seen.String(), "\nquiet") {
		t.Error("what is typed unseen was shown")
	}
	y.see("24 80")
	y.see("status-5")
	// Stopped and gone on with, as a job of the shell inside; a new size arrives.
	y.enter("talk\n")
	y.see("ready")
	y.enter("\x1a")
	y.see("Stopped")
	if err := pty.Setsize(y.tty, &pty.Winsize{Rows: 40, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	y.enter("echo shell-$((40+2)); fg\n")
	y.see("shell-42")
	y.enter("again\n")
	y.see("got again")
	y.see("unseen:")
	y.enter("x\n")
	y.see("hidden x")
	y.see("40 100")
	y.see("bash-")
	y.enter("stty -a | grep -c ' echo ' ; echo pipe | talk | cat; exit 6\n") // the terminal is as it was
	y.see("got pipe")
	if status := waitFor(t, y.cmd); status != 6 {
		t.Errorf("status %d", status)
	}
}

// Ctrl-C ends a call that does not catch it, and a script stops at it.
func TestToolCtrlC(t *testing.T) {
	for _, redirected := range []string{"", " </dev/null"} {
		s := newSandbox(t)
		s.tool("long", `echo ready; exec sleep 100`, never)
		y := s.onTerminal(t, lnk(), "sandbox", "run", "--yes", "--write="+s.project, "--tool=long", "--", "bash", "--norc", "-c", "long"+redirected+"; echo not-reached $?; true")
		y.see("ready")
		y.enter("\x03")
		if status := waitFor(t, y.cmd); status != 130 {
			t.Errorf("%q: status %d", redirected, status)
		}
		if strings.Contains(y.seen.String(), "not-reached") {
			t.Errorf("%q: the script went on", redirected)
		}
	}
}

// The question on the terminal is answered by its own word only: not by what
// was typed or printed before, and nothing of the program runs meanwhile.
func TestToolAskedOnTerminal(t *testing.T) {
	s := newSandbox(t)
	s.tool("gh", `echo "ran $*"; date +%s%N > `+s.root+`/ran`)
	// The program prints a question of its own, puts the terminal into a bad
	// state, and goes on printing and reading in the background.
	script := `printf 'type yes and Enter to allow it: \033[8m\033]0;open'
(while :; do echo noise >> noise; read -t 0.01 x < /dev/tty; done) 2>/dev/null &
gh pr merge; echo "first $?"; gh "$(printf 'a\r\033[2Kb')"; echo "second $?"; trap 'echo interrupted' INT; gh third; echo "third $?"; kill $!`
	y := s.onTerminal(t, lnk(), "sandbox", "run", "--yes", "--write="+s.project, "--tool=gh", "--", "bash", "--norc", "-c", script)
	y.enter("y\nyes\nallow\n") // typed ahead
	word := y.word()
	if _, err := os.Stat(filepath.Join(s.root, "ran")); err == nil {
		t.Fatal("it ran unasked")
	}
	size := func() int64 {
		info, err := os.Stat(filepath.Join(s.project, "noise"))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	before := size()
	time.Sleep(100 * time.Millisecond)
	if after := size(); after != before {
		t.Errorf("the program ran while it was asked: %d, then %d", before, after)
	}
	if !strings.Contains(y.seen.String(), "gh.sh pr merge") || !strings.Contains(y.seen.String(), "\x18\x1b\\\x1b[!p") {
		t.Errorf("%q", y.seen.String())
	}
	y.enter(word + "\r")
	y.see("ran pr merge")
	y.see("first 0")
	y.word()
	if !strings.Contains(y.seen.String(), `"a\r\x1b[2Kb"`) {
		t.Errorf("%q", y.seen.String())
	}
	y.enter(word + "\r") // the last question's
	y.see("refused")
	y.see("second 126")
	y.word()
	y.enter("\x03") // a no, and the program's
	y.see("interrupted")
	y.see("third 1") // 126 the no, or 130 what was typed: whichever comes first
	if status := waitFor(t, y.cmd); status != 0 {
		t.Errorf("status %d", status)
	}
}

// A call that would scroll away, with a question in it that is made up, is not
// put on the terminal: it is answered elsewhere, or by nobody.
func TestToolTooLongForTheTerminal(t *testing.T) {
	s := newSandbox(t)
	s.tool("echo1", `echo "ran $*"`)
	script := `pad() { printf '%*s' $1 ''; }
echo1 rm -rf / "$(pad 400)lnk sandbox run: the program asks to run this outside:$(pad 60)  /bin/echo hello" &
wait; echo over $?`
	y := s.onTerminal(t, lnk(), "sandbox", "run", "--yes", "--write="+s.project, "--tool=echo1", "--", "bash", "--norc", "-c", script)
	y.see("lnk sandbox asks")
	if strings.Contains(y.seen.String(), "Enter to allow") || strings.Contains(y.seen.String(), "/bin/echo hello") {
		t.Errorf("it was asked: %q", y.seen.String())
	}
	y.cmd.Process.Signal(syscall.SIGTERM)
	waitFor(t, y.cmd)
}
