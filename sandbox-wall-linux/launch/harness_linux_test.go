package launch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/direct"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/landlock"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/seccomp"
)

// The test binary plays the process that calls Run, the stage inside, and some
// of the programs, as the variable says.
const roleVar = "LAUNCH_TEST_ROLE"

// An order is what the process that calls Run is told.
type order struct {
	Argv     []string
	Args     []string
	Env      []string
	Dir      string
	Terminal bool
	// By is how it is made; nothing is by the kernel's own calls.
	By maker
	// Held keeps the program from starting until its sandbox is ended; it is a
	// file that is made then.
	Held string
	// Apart is the spec's.
	Apart bool
	// NoStage leaves out the stage inside.
	NoStage bool
	// Keep is a descriptor that is passed on.
	Keep int
	// Sync is a file that the sandbox's first process keeps open.
	Sync string
	// NotYet is why the program may not start, found out at the last moment.
	NotYet string
	// Mounted is a mount point without which the sandbox is to be ended.
	Mounted string
	// NoStreams passes nil for all three.
	NoStreams bool
	Filter    []byte
}

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVar); role {
	case "":
		os.Exit(m.Run())
	case "inside":
		os.Unsetenv(roleVar)
		err := Inside(os.Args[1:], os.Environ())
		fmt.Fprintln(os.Stderr, err)
		os.Exit(err.(*Error).Status)
	default:
		var o order
		if err := json.Unmarshal([]byte(role), &o); err != nil {
			panic(err)
		}
		os.Exit(o.run())
	}
}

// basic are options of a sandbox that shows everything, read only.
var basic = []string{
	"--unshare-user", "--disable-userns", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
	"--cap-drop", "ALL", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/run",
}

func (o order) run() int {
	filter := o.Filter
	if filter == nil {
		var err error
		if filter, err = seccomp.Program(seccomp.Options{NoGroupSignal: o.Terminal && !landlock.Closable().Signals}); err != nil {
			panic(err)
		}
	}
	s := Spec{
		Bwrap: "/usr/bin/bwrap", Args: append(basic, o.Args...), Seccomp: filter, Argv: o.Argv,
		Env:   append([]string{"PATH=/usr/bin:/bin", "HOME=/", "LC_ALL=C"}, o.Env...),
		Early: Early{Terminal: o.Terminal, Apart: o.Apart, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr},
	}
	if o.Dir != "" {
		s.Args = append(s.Args, "--chdir", o.Dir)
	}
	if o.NoStreams {
		s.Stdin, s.Stdout, s.Stderr = nil, nil, nil
	}
	if o.Keep != 0 {
		s.Files = []*os.File{os.NewFile(uintptr(o.Keep), "kept")}
	}
	if o.Sync != "" {
		f, err := os.OpenFile(o.Sync, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			panic(err)
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
			panic(err)
		}
		s.SyncFile = f
	}
	if o.NotYet != "" {
		s.Before = func() error { return errors.New(o.NotYet) }
	}
	if o.Held != "" {
		s.Contain = func(pid int) error {
			if err := os.WriteFile(o.Held, nil, 0o600); err != nil {
				return err
			}
			for {
				if p, err := statusOf(pid); err != nil || p.state == 'Z' {
					return unix.ESRCH
				}
				time.Sleep(time.Millisecond)
			}
		}
	}
	if o.Mounted != "" {
		s.Mounts = func(table string) error {
			if !strings.Contains(table, " "+o.Mounted+" ") {
				return errors.New(o.Mounted + " is gone")
			}
			return nil
		}
	}
	if !o.NoStage {
		exe, err := os.Executable()
		if err != nil {
			panic(err)
		}
		s.Stage = []string{"env", roleVar + "=inside", exe}
	}
	shields := shieldsFor(os.Geteuid())
	switch o.By {
	case bare:
		shields = nil
	case kernel, "":
		s.Direct = &direct.Sandbox{Steps: stepsOf(s.Args), Dir: s.dir()}
		s.HostName, s.OwnNet = "lnk", slices.Contains(s.Args, "--unshare-net")
		s.Bwrap, s.Args = "", nil
	}
	status, err := run(s, shields)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
	}
	return status
}

// command is a process that calls Run.
func (o order) command(t *testing.T, under ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	argv := append(under, exe)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), roleVar+"="+string(text))
	return cmd
}

type outcome struct {
	status    int
	out, errs string
}

func (o order) do(t *testing.T, under ...string) outcome {
	t.Helper()
	cmd := o.command(t, under...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), strings.TrimSpace(out.String()), strings.TrimSpace(errs.String())}
}

func sh(script string) order { return order{Argv: []string{"sh", "-c", script}} }

// A maker is how a sandbox is made: by the kernel's own calls, by bubblewrap in
// a pid namespace of its own, or by bubblewrap alone, as on a machine that has
// no such namespace for us.
type maker string

const (
	kernel   maker = "kernel"
	shielded maker = "shielded"
	bare     maker = "bare"
)

// each runs a test with every maker.
func each(t *testing.T, test func(t *testing.T, by maker)) {
	t.Helper()
	makers := []maker{kernel, shielded, bare}
	if withRace {
		makers = makers[:2]
	}
	for _, by := range makers {
		t.Run(string(by), func(t *testing.T) { test(t, by) })
	}
}

// stepsOf gives the steps that bubblewrap's options stand for, those that these
// tests use.
func stepsOf(args []string) []linuxwall.Step {
	var steps []linuxwall.Step
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "--ro-bind", "--bind":
			verb := linuxwall.Read
			if args[i] == "--bind" {
				verb = linuxwall.Write
			}
			steps = append(steps, linuxwall.Step{Verb: verb, At: args[i+2], From: args[i+1], Is: nodeAt(args[i+1])})
			i += 2
		case "--tmpfs":
			steps = append(steps, linuxwall.Step{Verb: linuxwall.Empty, At: args[i+1], Perm: 0o755})
			i++
		case "--proc":
			steps = append(steps, linuxwall.Step{Verb: linuxwall.Processes, At: args[i+1]})
			i++
		case "--dev":
			steps = append(steps, linuxwall.Step{Verb: linuxwall.Devices, At: args[i+1]})
			i++
		}
	}
	return steps
}

func nodeAt(at string) linuxwall.Node {
	var st unix.Stat_t
	if unix.Lstat(at, &st) != nil {
		return linuxwall.Node{}
	}
	n := linuxwall.Node{Kind: linuxwall.File, Dev: st.Dev, Ino: st.Ino}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		n.Kind = linuxwall.Folder
	}
	return n
}

// A tag is an argument by which a test finds its own processes.
func tag(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("lnk-launch-%d-%d", os.Getpid(), time.Now().UnixNano())
}

// living gives the processes, but for zombies, that have the word among their
// arguments or whose parent's parent's … has it.
func living(t *testing.T, word string) []int {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, dir := range dirs {
		cmdline, _ := os.ReadFile(dir + "/cmdline")
		environ, _ := os.ReadFile(dir + "/environ")
		if !bytes.Contains(cmdline, []byte(word)) && !bytes.Contains(environ, []byte(word)) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if p, err := statusOf(pid); err == nil && p.state != 'Z' && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// eventually waits for what will be, and fails when it is not in time.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 20 s", what)
		}
	}
}

// gone fails when processes of a test are still there, and ends them.
func gone(t *testing.T, word string) {
	t.Helper()
	if left := living(t, word); len(left) > 0 {
		t.Errorf("left: %d", left)
		for _, pid := range left {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

// readUntil reads what a process writes up to a text.
func readUntil(t *testing.T, from interface{ Read([]byte) (int, error) }, end string) string {
	t.Helper()
	var got []byte
	one := make([]byte, 1)
	for !bytes.HasSuffix(got, []byte(end)) {
		if n, err := from.Read(one); n == 0 {
			t.Fatalf("%v after %q", err, got)
		}
		got = append(got, one...)
	}
	return string(got)
}

// childrenOfThreads gives a process' children whichever of its threads started
// them.
func childrenOfThreads(pid int) []int {
	var pids []int
	threads, _ := filepath.Glob("/proc/" + itoa(pid) + "/task/*/children")
	for _, thread := range threads {
		text, _ := os.ReadFile(thread)
		pids = append(pids, readPIDs(string(text))...)
	}
	return pids
}

// bubblewrap waits until the process that calls Run has a program running, and
// gives bubblewrap's own process.
func bubblewrap(t *testing.T, runner int) (pid int) {
	t.Helper()
	eventually(t, "a program", func() bool {
		for _, child := range childrenOfThreads(runner) {
			for _, first := range children(child) {
				if len(children(first)) > 0 {
					pid = child
					return true
				}
			}
		}
		return false
	})
	return pid
}

// firstOf waits until the process that calls Run has a program running, and
// gives the first process of its sandbox.
func firstOf(t *testing.T, runner int) (first int) {
	t.Helper()
	eventually(t, "a program", func() bool {
		for _, child := range childrenOfThreads(runner) {
			if p, err := statusOf(child); err == nil && p.inner == 1 && len(children(child)) > 0 {
				first = child
				return true
			}
		}
		return false
	})
	return first
}
