package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/labtest"
)

// A talk is a program in a sandbox that does what a test tells it, a line a
// deed, and answers each with a line.
type talk struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

const talker = `import socket, sys
c = None
for line in sys.stdin:
    w = line.split()
    try:
        if w[0] == "open": c = socket.create_connection((w[1], int(w[2])), 30); print("open", flush=True)
        elif w[0] == "say":
            n = int(w[1]); c.sendall(b"x" * n)
            while n > 0:
                b = c.recv(65536)
                if not b: raise EOFError
                n -= len(b)
            print("said", flush=True)
        elif w[0] == "send": c.sendall(b"y" * int(w[1])); print("sent", flush=True)
        elif w[0] == "listen": print(len(c.recv(1)), flush=True)
        elif w[0] == "close": c.close(); print("closed", flush=True)
    except (OSError, EOFError) as e: print(type(e).__name__, flush=True)
`

func (s *sandbox) talk(argv ...string) *talk {
	s.t.Helper()
	s.put("talker.py", talker)
	cmd := exec.Command(argv[0], append(argv[1:], "/usr/bin/python3", s.project+"/talker.py")...)
	cmd.Dir, cmd.Env, cmd.Stderr = s.project, s.env(), os.Stderr
	return s.talking(cmd)
}

// talking starts a command that answers what it is told.
func (s *sandbox) talking(cmd *exec.Cmd) *talk {
	s.t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { in.Close(); cmd.Process.Kill(); cmd.Wait() })
	return &talk{t: s.t.(*testing.T), cmd: cmd, in: in, out: bufio.NewScanner(out)}
}

// tell has the program do something; hear gives its answer.
func (k *talk) tell(deed string) { fmt.Fprintln(k.in, deed) }

func (k *talk) hear() string {
	k.t.Helper()
	line := make(chan string, 1)
	go func() {
		k.out.Scan()
		line <- k.out.Text()
	}()
	select {
	case l := <-line:
		return l
	case <-time.After(hangGuard):
		k.t.Fatal("the program says nothing")
	}
	return ""
}

func (k *talk) want(deed, answer string) {
	k.t.Helper()
	k.tell(deed)
	if got := k.hear(); got != answer {
		k.t.Fatalf("%s: %q, want %q", deed, got, answer)
	}
}

// refused has the program call, which must come to nothing. A connection is made
// in the sandbox's own network before it can be judged.
func (k *talk) refused() {
	k.t.Helper()
	k.tell(echo)
	if got := k.hear(); got == "open" {
		k.want("listen", "ConnectionResetError")
	} else if got != "ConnectionResetError" && got != "ConnectionRefusedError" {
		k.t.Fatalf("a new call: %q", got)
	}
}

// lnk is `lnk sandbox <args>` by the one whose sandbox it is.
func (s *sandbox) lnk(args ...string) ended {
	s.t.Helper()
	return s.command("", append([]string{lnk(), "sandbox"}, args...))
}

func (s *sandbox) well(args ...string) string {
	s.t.Helper()
	e := s.lnk(args...)
	if e.status != 0 {
		s.t.Fatalf("%q: status %d: %s", args, e.status, e.errors)
	}
	return e.out
}

const echo = "open " + labtest.AllowedName + " 7777"

func (s *sandbox) talkToEcho() *talk {
	k := s.talk(lnk(), "sandbox", "run", "--yes", "--write="+s.project, "--tcp="+labtest.AllowedName+":7777", "--")
	k.want(echo, "open")
	k.want("say 10", "said")
	return k
}

// A stop cuts what is open, refuses what is new, holds for sandboxes that start
// under it, and ends with start.
func TestStop(t *testing.T) {
	s := newSandbox(t)
	a, b := s.talkToEcho(), s.talkToEcho()
	for _, k := range []*talk{a, b} {
		k.tell("listen")
	}
	s.well("stop")
	for _, k := range []*talk{a, b} {
		if got := k.hear(); got != "ConnectionResetError" {
			t.Errorf("a call that was open: %q", got)
		}
		k.refused()
	}
	if out := s.well("paused", "--json"); out != `{"stopped":true,"paused":[]}`+"\n" {
		t.Errorf("paused: %s", out)
	}
	if e := s.run("--write="+s.project, allow, "--", "curl", "-sSf", "http://"+labtest.AllowedName+"/hello"); e.status != 22 || !strings.Contains(e.errors, "every wire is stopped") {
		t.Errorf("one that starts in a stop: %+v", e)
	}
	s.well("start")
	for _, k := range []*talk{a, b} {
		k.want(echo, "open")
		k.want("say 10", "said")
	}
}

// A pause holds one sandbox and no other, says why, and lets go of nothing.
func TestPause(t *testing.T) {
	s := newSandbox(t)
	a, b := s.talkToEcho(), s.talkToEcho()
	name := "run-" + strconv.Itoa(a.cmd.Process.Pid)
	s.well("pause", name, "--why", "too much")
	a.want("send 5", "sent") // into its own socket, and no further
	a.tell("listen")
	if out := s.well("paused", "--json"); out != `{"stopped":false,"paused":[{"sandbox":"`+name+`","why":"too much"}]}`+"\n" {
		t.Errorf("paused: %s", out)
	}
	if out := s.well("paused"); out != name+" is paused: too much\n" {
		t.Errorf("paused: %s", out)
	}
	b.want("say 10", "said")
	s.well("resume", name)
	if got := a.hear(); got != "1" {
		t.Errorf("after the pause: %q", got)
	}
	if e := s.lnk("resume", name); e.status != 0 || !strings.Contains(e.errors, "was not paused") {
		t.Errorf("resumed twice: %+v", e)
	}
}

// A paused sandbox stays paused when it is killed and started again.
func TestPauseOutlivesItsProxy(t *testing.T) {
	s := newSandbox(t)
	s.well("pause", "case", "--why", "looked at")
	for range 2 {
		e := s.wrapped(s.confinement(s.proxied(labtest.AllowedName)), "curl", "-sS", "http://"+labtest.AllowedName+"/hello")
		if strings.Contains(e.out, "hello from") || !strings.Contains(e.out, "this sandbox's wire is paused: looked at") {
			t.Fatalf("it is not paused: %+v", e)
		}
	}
	k := s.talkToEcho()
	s.well("pause", "run-"+strconv.Itoa(k.cmd.Process.Pid))
	k.cmd.Process.Kill()
	k.cmd.Wait()
	if out := s.well("paused"); strings.Count(out, "is paused") != 2 {
		t.Errorf("paused: %s", out)
	}
}

// What cannot be read is a stop, and no reader makes anything.
func TestUnreadableFlagIsAStop(t *testing.T) {
	s := newSandbox(t)
	s.well("paused", "--json")
	s.well("traffic", "--json")
	if _, err := os.Lstat(filepath.Join(s.home, ".lnk")); !os.IsNotExist(err) {
		t.Errorf("a reader made the settings folder: %v", err)
	}
	k := s.talkToEcho()
	k.tell("listen")
	spoiled := filepath.Join(s.home, ".lnk", "sandbox", "wires")
	if err := os.WriteFile(spoiled, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := k.hear(); got != "ConnectionResetError" {
		t.Errorf("an open call: %q", got)
	}
	k.refused()
	if e := s.lnk("paused", "--json"); e.status != 1 || e.out != "" {
		t.Errorf("paused: %+v", e)
	}
	if err := os.Remove(spoiled); err != nil {
		t.Fatal(err)
	}
	k.want(echo, "open")
}

// Names that are none are refused before anything is made.
func TestWiresRefuse(t *testing.T) {
	s := newSandbox(t)
	for _, args := range [][]string{
		{"pause", "../stopped"}, {"pause", ""}, {"pause"}, {"resume", "a/b"}, {"pause", "web", "--why", strings.Repeat("x", 5000)},
		{"stop", "web"}, {"on-stop", "../x", "--", "agent"}, {"on-stop", "x", "agent"},
		{"on-stop", "x", "--", "sandbox", "start"}, {"on-stop", "x", "--", ""}, {"on-stop", "x", "--", "--help"}, {"on-stop", "x", "--", "./agent", "stop"},
	} {
		if e := s.lnk(args...); e.status == 0 || strings.Count(e.errors, "\n") != 1 {
			t.Errorf("%q: %+v", args, e)
		}
	}
	if _, err := os.Lstat(filepath.Join(s.home, ".lnk")); !os.IsNotExist(err) {
		t.Errorf("a refusal made the settings folder: %v", err)
	}
}

// What others asked for runs at a stop, after the wires are closed, each by its
// name; a failure is told and keeps no other; a stop in it is the same stop.
func TestOnStop(t *testing.T) {
	s := newSandbox(t)
	bin := filepath.Join(s.root, "bin")
	note := filepath.Join(s.root, "ran")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\n[ -e \"$HOME/.lnk/sandbox/wires/stopped\" ] || exit 9\n" + lnk() + " sandbox stop || exit 8\necho \"$*\" >> " + note + "\n[ \"$1\" != fail ]\n"
	if err := os.WriteFile(filepath.Join(bin, "lnk-agent"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	stop := func() ended {
		return s.command("", []string{lnk(), "sandbox", "stop"}, "PATH="+bin+":/usr/bin:/bin")
	}
	s.well("on-stop", "agent-ann", "--", "agent", "stop", "-a", "ann")
	if e := stop(); e.status != 0 {
		t.Fatalf("stop: %+v", e)
	}
	s.well("on-stop", "agent-bob", "--", "agent", "fail")
	if e := stop(); e.status != 1 || !strings.Contains(e.errors, "on-stop agent-bob: lnk agent fail") {
		t.Errorf("one that fails: %+v", e)
	}
	s.well("on-stop", "agent-ann")
	s.well("on-stop", "agent-bob")
	if e := stop(); e.status != 0 {
		t.Errorf("with nothing left to do: %+v", e)
	}
	ran, _ := os.ReadFile(note)
	if got := strings.Count(string(ran), "stop -a ann\n"); got != 2 || strings.Count(string(ran), "\n") != 3 {
		t.Errorf("ran %q", ran)
	}
	// A file that was written by hand is judged as the command judges.
	by := filepath.Join(s.home, ".lnk", "sandbox", "on-stop", "hand.json")
	for _, text := range []string{`{"args":["sandbox","start"]}`, `{"args":[]}`, `{"args":["agent"],"shell":true}`, `{`} {
		if err := os.WriteFile(by, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if e := stop(); e.status != 1 || !strings.Contains(e.errors, "on-stop hand: ") {
			t.Errorf("%s: %+v", text, e)
		}
	}
	if help := s.well("--help"); strings.Contains(help, "on-stop") {
		t.Error("on-stop is not hidden")
	}
}

// What is open counts while it is open, and a record goes with its proxy.
func TestTraffic(t *testing.T) {
	s := newSandbox(t)
	k := s.talkToEcho()
	k.want("say 5000", "said")
	var list []struct {
		PID      int
		Sandbox  string
		Up, Down uint64
	}
	until(t, "an open call is counted", func() bool {
		out := s.well("traffic", "--json")
		if err := json.Unmarshal([]byte(out), &list); err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		return len(list) == 1 && list[0].Up == 5010 && list[0].Down == 5010
	})
	if list[0].PID != k.cmd.Process.Pid || list[0].Sandbox != "run-"+strconv.Itoa(list[0].PID) {
		t.Errorf("%+v", list)
	}
	if out := s.well("traffic"); !strings.Contains(out, "4.9 KiB  4.9 KiB\n") || !strings.HasPrefix(out, "PID ") {
		t.Errorf("as a table:\n%s", out)
	}
	k.cmd.Process.Kill()
	k.cmd.Wait()
	folder := filepath.Join(s.home, ".lnk", "sandbox", "traffic")
	if left, _ := os.ReadDir(folder); len(left) != 1 {
		t.Errorf("a killed proxy left %v", left)
	}
	if out := s.well("traffic", "--json"); out != "[]\n" {
		t.Errorf("of a killed proxy: %s", out)
	}
	if left, _ := os.ReadDir(folder); len(left) != 0 {
		t.Errorf("what a killed proxy left is still there: %v", left)
	}
	k = s.talkToEcho()
	k.in.Close()
	waitFor(t, k.cmd)
	if left, _ := os.ReadDir(folder); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// until waits until something is so.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for limit := time.Now().Add(hangGuard); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("not in time: " + what)
		}
	}
}

// What has no wire to cut is not begun while every wire is stopped.
func TestStopKeepsTheMachinesNetworkFromBeginning(t *testing.T) {
	s := newSandbox(t)
	spec := filepath.Join(s.root, "host.toml")
	if err := os.WriteFile(spec, []byte("[network]\nmode = \"host\"\nlocalhost = true\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if e := s.run("--spec="+spec, "--", "true"); e.status != 0 {
		t.Fatalf("status %d: %s", e.status, e.errors)
	}
	s.command("", []string{lnk(), "sandbox", "stop"})
	if e := s.run("--spec="+spec, "--", "true"); e.status != 125 || !strings.Contains(e.errors, "lnk sandbox start") || strings.Count(e.errors, "\n") != 1 {
		t.Errorf("status %d: %s", e.status, e.errors)
	}
	s.command("", []string{lnk(), "sandbox", "start"})
	if e := s.run("--spec="+spec, "--", "true"); e.status != 0 {
		t.Errorf("status %d: %s", e.status, e.errors)
	}
}
