package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/labtest"
)

// The status is the program's own, or says what became of it.
func TestStatus(t *testing.T) {
	s := newSandbox(t)
	plain := s.put("plain.txt", "no program\n")
	if err := os.Chmod(plain, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, net := range [][]string{nil, {allow}} {
		for _, c := range []struct {
			status int
			argv   []string
			says   string
		}{
			{0, []string{"true"}, ""},
			{7, []string{"sh", "-c", "exit 7"}, ""},
			{137, []string{"sh", "-c", "kill -KILL $$"}, ""},
			{143, []string{"sh", "-c", "kill -TERM $$"}, ""},
			{127, []string{"no-such-program"}, "no-such-program"},
			{127, []string{"/nowhere/at-all"}, "/nowhere/at-all"},
			{126, []string{plain}, "plain.txt"},
			{126, []string{s.project}, "project"},
		} {
			e := s.run(append(append([]string{"--write=" + s.project}, net...), append([]string{"--"}, c.argv...)...)...)
			if e.status != c.status {
				t.Errorf("%q %q: status %d, want %d: %s", net, c.argv, e.status, c.status, e.errors)
			}
			if lines := strings.Count(e.errors, "\n"); (c.says == "") != (lines == 0) || lines > 1 || !strings.Contains(e.errors, c.says) {
				t.Errorf("%q: want one line with %q: %q", c.argv, c.says, e.errors)
			}
		}
	}
}

// What wrap prints does what run does.
func TestWrapDoesWhatRunDoes(t *testing.T) {
	s := newSandbox(t)
	ca := s.trusted()
	for _, net := range []any{"closed", s.proxied(labtest.AllowedName)} {
		if e := s.wrapped(s.confinement(net), "sh", "-c", "echo x > made; exit 9"); e.status != 9 {
			t.Errorf("%v: status %d: %s", net, e.status, e.errors)
		}
		if e := s.wrapped(s.confinement(net), "cat", filepath.Join(s.root, "outside")); e.status != 1 {
			t.Errorf("%v: status %d: %s", net, e.status, e.errors)
		}
	}
	for _, client := range [][]string{{"curl", "-sS"}, {"curl", "-sS", "--noproxy", "*"}} {
		e := s.wrapped(s.confinement(s.proxied(labtest.AllowedName)), append(client, "--cacert", ca, "https://"+labtest.AllowedName+"/hello")...)
		if !strings.Contains(e.out, "hello") {
			t.Errorf("%q: status %d: %s", client, e.status, e.errors)
		}
	}
	if e := s.wrapped(s.confinement(s.proxied()), "curl", "-sSf", "http://"+labtest.AllowedName+"/hello"); e.status == 0 {
		t.Error("an empty list of hosts reached one")
	}
}

// start begins a command and gives it when its first line is out.
func (s *sandbox) start(argv ...string) (*exec.Cmd, *bytes.Buffer) {
	s.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = s.project, s.env()
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { cmd.Process.Kill() })
	first := make([]byte, 1)
	if _, err := out.Read(first); err != nil {
		cmd.Wait()
		s.t.Fatalf("%q: said nothing: %v: %s", argv, err, errs.String())
	}
	return cmd, &errs
}

// A signal is passed on to the program, once, and its answer is the status.
func TestSignalsArePassedOn(t *testing.T) {
	for _, net := range [][]string{nil, {allow}} {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGQUIT, syscall.SIGALRM, syscall.SIGABRT} {
			s := newSandbox(t)
			script := fmt.Sprintf("n=0; trap 'n=$((n+1)); echo $n > caught' %d; echo up; while [ $n = 0 ]; do sleep 0.05; done; sleep 0.3; exit 11", sig)
			argv := append(append([]string{lnk(), "sandbox", "run", "--yes", "--write=" + s.project}, net...), "--", "sh", "-c", script)
			cmd, errs := s.start(argv...)
			cmd.Process.Signal(sig)
			if status := waitFor(t, cmd); status != 11 {
				t.Errorf("%q %v: status %d: %s", net, sig, status, errs.String())
			}
			if b, _ := os.ReadFile(filepath.Join(s.project, "caught")); string(b) != "1\n" {
				t.Errorf("%q %v: caught %q, want once", net, sig, b)
			}
		}
	}
}

// A timer outlives exec, so that what bounds a program's time by one bounds a
// sandbox's too.
func TestTimerSetBefore(t *testing.T) {
	const timer = "import os, signal, sys; signal.setitimer(signal.ITIMER_REAL, 0.5); os.execvp(sys.argv[1], sys.argv[1:])"
	for _, net := range [][]string{nil, {allow}} {
		s := newSandbox(t)
		argv := []string{"python3", "-Sc", timer, lnk(), "sandbox", "run", "--yes", "--write=" + s.project}
		if e := s.command("", append(append(argv, net...), "--", "sleep", "600")); e.status != 128+int(syscall.SIGALRM) {
			t.Errorf("%q: status %d: %s", net, e.status, e.errors)
		}
	}
}

func waitFor(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
	case <-time.After(hangGuard):
		cmd.Process.Kill()
		t.Fatal("it did not end")
	}
	ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// The first child's end is the end, though what it left holds the pipes.
func TestBackgroundChildrenEndWithTheProgram(t *testing.T) {
	for _, net := range [][]string{nil, {allow}} {
		s := newSandbox(t)
		e := s.run(append(append([]string{"--write=" + s.project}, net...), "--", "sh", "-c", "setsid sleep 7701 & nohup sleep 7702 >/dev/null 2>&1 & echo done; exit 3")...)
		if e.status != 3 || e.out != "done\n" {
			t.Errorf("status %d, out %q: %s", e.status, e.out, e.errors)
		}
		gone(t, "sleep 770")
	}
}

// descendants gives pid and every process below it, parents first.
func descendants(pid int) []int {
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", all[i]))
		for _, task := range tasks {
			b, _ := os.ReadFile(task)
			for _, f := range strings.Fields(string(b)) {
				var child int
				fmt.Sscan(f, &child)
				all = append(all, child)
			}
		}
	}
	return all
}

// gone waits until no process's command line holds the text.
func gone(t testing.TB, text string) {
	t.Helper()
	eventually(t, func() error {
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, f := range files {
			b, _ := os.ReadFile(f)
			if line := strings.ReplaceAll(string(b), "\x00", " "); strings.Contains(line, text) && !strings.Contains(line, "-test.") {
				return fmt.Errorf("%s still runs: %s", filepath.Dir(f), line)
			}
		}
		return nil
	})
}

func eventually(t testing.TB, check func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(hangGuard / 4); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	t.Error(err)
}

// The environment is scrubbed under run.
func TestEnvironment(t *testing.T) {
	s := newSandbox(t)
	e := s.command("", []string{lnk(), "sandbox", "run", "--yes", "--write=" + s.project, "--", "env"}, "API_TOKEN=hunter2", "LC_ALL=C", "SSH_AUTH_SOCK=/x", "http_proxy=http://evil:1", "NO_COLOR=1")
	for _, want := range []string{"PATH=", "HOME=" + s.home, "LC_ALL=C", "NO_COLOR=1", "TMPDIR="} {
		if !strings.Contains("\n"+e.out, "\n"+want) {
			t.Errorf("%s is missing in %q", want, e.out)
		}
	}
	for _, no := range []string{"hunter2", "SSH_AUTH_SOCK", "evil"} {
		if strings.Contains(e.out, no) {
			t.Errorf("%s is in %q", no, e.out)
		}
	}
}

// Nothing that the caller has open is open inside, and a caller without
// standard streams is served too.
func TestDescriptors(t *testing.T) {
	s := newSandbox(t)
	secret := filepath.Join(s.root, "secret")
	if err := os.WriteFile(secret, []byte("private"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, net := range []string{"", allow} {
		line := fmt.Sprintf("exec 5<%s 6</ 300<%s; %s sandbox run --yes --write=%s %s -- sh -c 'ls /proc/self/fd; cat <&5; cat /proc/self/fd/300; ls /proc/self/fd/6/home'", secret, secret, lnk(), s.project, net)
		e := s.command("", []string{"bash", "-c", line})
		for _, fd := range strings.Fields(e.out) {
			if fd != "0" && fd != "1" && fd != "2" && fd != "3" { // 3 is ls's own
				t.Errorf("%q: descriptor %s is open inside, or was read: %q", net, fd, e.out)
			}
		}
		line = fmt.Sprintf("%s sandbox run --yes --write=%s %s -- sh -c 'exit 4' <&- >&- 2>&-", lnk(), s.project, net)
		if e := s.command("", []string{"bash", "-c", line}); e.status != 4 {
			t.Errorf("%q: status %d without standard streams", net, e.status)
		}
	}
}
