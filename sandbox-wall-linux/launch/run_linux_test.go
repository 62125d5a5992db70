package launch

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/landlock"
)

func TestStatus(t *testing.T) {
	each(t, func(t *testing.T, by maker) {
		for script, want := range map[string]int{
			"exit 0": 0, "exit 7": 7, "exit 255": 255,
			"kill -9 $$": 128 + 9, "kill -15 $$": 128 + 15, "kill -INT $$": 128 + 2,
		} {
			o := sh(script)
			o.By = by
			if got := o.do(t); got.status != want || got.errs != "" {
				t.Errorf("%s: %+v, want %d", script, got, want)
			}
		}
	})
}

// What keeps the program from being started is said in one line of ours.
func TestNotStarted(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		at := dir + "/" + name
		if err := os.WriteFile(at, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return at
	}
	plain := file("plain", "#!/bin/sh\n", 0o644)
	orphan := file("orphan", "#!/no/such/interpreter -x\n", 0o755)
	script := file("script", "#!/bin/sh\nexit 9\n", 0o755)
	bare := file("bare", "exit 8\n\x00", 0o755)
	for _, row := range []struct {
		name   string
		o      order
		status int
		errs   string
	}{
		{"not found", order{Argv: []string{"no-such-program"}}, 127, "error: no-such-program: not found inside the sandbox"},
		{"no such path", order{Argv: []string{"/no/such"}}, 127, "error: /no/such: not found inside the sandbox"},
		{"hidden", order{Argv: []string{script}, Args: []string{"--tmpfs", dir}}, 127, "error: " + script + ": not found inside the sandbox"},
		{"not on PATH", order{Argv: []string{"sh"}, Env: []string{"PATH=" + dir}}, 127, "error: sh: not found inside the sandbox"},
		{"no permission", order{Argv: []string{plain}}, 126, "error: " + plain + ": may not be executed"},
		{"no permission on PATH", order{Argv: []string{"plain"}, Env: []string{"PATH=" + dir + ":/bin"}}, 126, "error: plain: may not be executed"},
		{"folder", order{Argv: []string{dir}}, 126, "error: " + dir + ": is a folder"},
		{"device", order{Argv: []string{"/dev/null"}}, 126, "error: /dev/null: is no file to be executed"},
		{"interpreter", order{Argv: []string{orphan}}, 126, "error: " + orphan + ": a script whose interpreter is not there: /no/such/interpreter"},
		{"folder to start in", order{Argv: []string{"true"}, Dir: "/no/such"}, 125, "error: the sandbox could not be set up: the folder to start in, /no/such, is not there inside"},
		{"script", order{Argv: []string{script}}, 9, ""},
		{"script without #!", order{Argv: []string{bare}}, 8, ""},
		{"relative", order{Argv: []string{"./script"}, Dir: dir}, 9, ""},
		{"empty PATH entry", order{Argv: []string{"script"}, Dir: dir, Env: []string{"PATH=/no:"}}, 9, ""},
		{"passed over", order{Argv: []string{"script"}, Env: []string{"PATH=/no:/dev/null:" + dir}}, 9, ""},
	} {
		for _, row.o.By = range []maker{kernel, shielded} {
			if got := row.o.do(t); got.status != row.status || got.errs != row.errs {
				t.Errorf("%s, by %s: %+v, want %d %q", row.name, row.o.By, got, row.status, row.errs)
			}
		}
	}
}

// Binary data that the kernel does not execute goes to no shell, with the kernel's
// own calls and in the stage inside.
func TestBinaryData(t *testing.T) {
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		text   string
		status int
	}{
		"cut-off": {"\x7fELF", 126}, "zeros": {strings.Repeat("\x00", 4096), 126}, // which no binfmt_misc knows either
		"script": {"exit 8\n\x00", 8}, "empty": {"", 0},
	} {
		at, want := filepath.Join(dir, name), ""
		if err := os.WriteFile(at, []byte(row.text), 0o755); err != nil {
			t.Fatal(err)
		}
		if row.status == 126 {
			want = at + ": " + linuxwall.ErrNoProgram.Error()
		}
		if got := (&order{Argv: []string{at}}).do(t); got.status != row.status || strings.TrimPrefix(got.errs, "error: ") != want {
			t.Errorf("%s: %+v, want %d %q", name, got, row.status, want)
		}
		c := exec.Command(exe, at)
		c.Env = []string{roleVar + "=inside"}
		said, err := c.CombinedOutput()
		if c.ProcessState == nil || c.ProcessState.ExitCode() != row.status || strings.TrimSpace(string(said)) != want {
			t.Errorf("%s inside: %v, %q, want %d %q", name, err, said, row.status, want)
		}
	}
}

// What cannot be set up is 125, and nothing ran.
func TestSetupFails(t *testing.T) {
	o := order{Argv: []string{"echo", "ran"}, Args: []string{"--ro-bind", "/no/such", "/tmp"}}
	if got := o.do(t); got.status != 125 || got.out != "" || got.errs != "error: the sandbox could not be set up: read /tmp: changed since it was looked at: no such file or directory" {
		t.Errorf("%+v", got)
	}
	each(t, func(t *testing.T, by maker) {
		if by == kernel {
			return // said above, in other words
		}
		for _, o := range []order{
			{Argv: []string{"echo", "ran"}, Args: []string{"--ro-bind", "/no/such", "/x"}},
			{Argv: []string{"echo", "ran"}, Args: []string{"--no-such-option"}},
		} {
			o.By = by
			got := o.do(t)
			if got.status != 125 || got.out != "" || !strings.Contains(got.errs, "\nerror: the sandbox could not be set up: bubblewrap gives the reason above") {
				t.Errorf("%+v", got)
			}
		}
	})
}

// A filter that is not one is refused by the kernel, after everything else: the
// program does not run without it.
func TestFilterThatIsNone(t *testing.T) {
	each(t, func(t *testing.T, by maker) {
		for _, filter := range [][]byte{{0, 0, 0, 0, 0, 0, 0, 0}, {1, 2, 3}} {
			o := order{Argv: []string{"echo", "ran"}, Filter: filter, By: by}
			want := 126
			if by == kernel {
				want = 125
			}
			if got := o.do(t); got.status != want || strings.Contains(got.out, "ran") {
				t.Errorf("%v: %+v", filter, got)
			}
		}
	})
}

func TestSpecsThatAreRefused(t *testing.T) {
	ok := Spec{Bwrap: "/usr/bin/bwrap", Seccomp: []byte{1}, Argv: []string{"true"}}
	for what, spoil := range map[string]func(*Spec){
		"not an absolute path": func(s *Spec) { s.Bwrap = "bwrap" },
		"no program":           func(s *Spec) { s.Argv = nil },
		"filter":               func(s *Spec) { s.Seccomp = nil },
		"4097 bytes":           func(s *Spec) { s.Seccomp = make([]byte, maxFilter+1) },
		"NUL":                  func(s *Spec) { s.Env = []string{"A=x\x00--bind"} },
		"words for bubblewrap": func(s *Spec) { s.Args = make([]string, maxWords) },
		"cannot be started":    func(s *Spec) { s.Bwrap = "/no/such/bwrap" },
	} {
		s := ok
		spoil(&s)
		status, err := Run(s)
		var e *Error
		if status != 125 || !errors.As(err, &e) || e.Status != 125 || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %d, %v", what, status, err)
		}
	}
}

// The environment is what was asked for, and bubblewrap has none of it.
func TestEnvironment(t *testing.T) {
	o := order{Argv: []string{"cat", "/proc/self/environ"}, Dir: "/tmp"}
	o.Env = []string{"A=1", "A=2", "B=x=y\n z", "noequals", "=x", "LD_LIBRARY_PATH=/no/such", "BASH_FUNC_x%%=() { :; }"}
	want := []string{"A=2", "B=x=y\n z", "BASH_FUNC_x%%=() { :; }", "HOME=/", "LC_ALL=C", "LD_LIBRARY_PATH=/no/such", "PATH=/usr/bin:/bin", "PWD=/tmp"}
	got := o.do(t)
	vars := strings.Split(strings.TrimSuffix(got.out, "\x00"), "\x00")
	slices.Sort(vars)
	if diff := cmp.Diff(want, vars); diff != "" {
		t.Errorf("%s\n%+v", diff, got)
	}
	// A library of the program's is not loaded into bubblewrap.
	name := tag(t)
	o = order{Argv: []string{"sleep", "60"}, Env: []string{"LD_PRELOAD=/no/such/lib.so", "MARK=" + name}, By: shielded}
	cmd := o.command(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	bwrap := bubblewrap(t, cmd.Process.Pid)
	environ, err := os.ReadFile("/proc/" + itoa(bwrap) + "/environ")
	if err != nil || len(environ) > 0 {
		t.Errorf("bubblewrap's environment: %q, %v", environ, err)
	}
	cmdline, err := os.ReadFile("/proc/" + itoa(bwrap) + "/cmdline")
	if err != nil || strings.Contains(string(cmdline), name) {
		t.Errorf("bubblewrap's arguments: %q, %v", cmdline, err)
	}
}

// Of all that the caller has open, only what is passed on arrives.
func TestDescriptors(t *testing.T) {
	each(t, func(t *testing.T, by maker) {
		o := sh("ls /proc/self/fd | tr '\\n' ' '; [ ! -e /proc/self/fd/3 ] || cat <&3")
		o.By = by
		open := []string{"bash", "-c", `exec 5</etc/passwd 6<>/tmp 2>/dev/null; exec 5</ 6</etc 3</etc/hostname; ulimit -n 2048; exec 1500</; exec "$@"`, "bash"}
		// ls itself has 3 open on the folder that it reads.
		if got := o.do(t, open...); got.out != "0 1 2 3" {
			t.Errorf("open inside: %q %s", got.out, got.errs)
		}
		if by == kernel {
			return // which passes none on
		}
		o.Keep = 3
		if got := o.do(t, open...); !strings.HasPrefix(got.out, "0 1 2 3 4 ") || len(strings.Fields(got.out)) != 6 {
			t.Errorf("open inside, with one passed on: %q %s", got.out, got.errs)
		}
	})
}

// A caller whose standard streams are closed has them on /dev/null inside, and
// nothing else gets their numbers.
func TestClosedStreams(t *testing.T) {
	out := t.TempDir() + "/out"
	for _, o := range []order{{}, {NoStreams: true}} {
		o.Argv = []string{"sh", "-c", "readlink /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 >" + out + "; echo x; echo y >&2; ls /proc/self/fd | wc -l >>" + out}
		o.Args = []string{"--bind", filepath.Dir(out), filepath.Dir(out)}
		if got := o.do(t, "bash", "-c", `exec "$@" 0<&- 1>&- 2>&-`, "bash"); got.status != 0 {
			t.Errorf("%+v", got)
		}
		text, err := os.ReadFile(out)
		want := "/dev/null\n" + out + "\n/dev/null\n4\n"
		if err != nil || string(text) != want {
			t.Errorf("%q, %v, want %q", text, err, want)
		}
	}
}

// Run waits for the program alone: what it left in the background ends with it,
// and what that has open is closed.
func TestBackground(t *testing.T) {
	each(t, func(t *testing.T, by maker) {
		name := tag(t)
		o := sh("sleep 600 & setsid sleep 600 & (setsid sh -c 'sleep 600 &'); nohup sleep 600 >/dev/null 2>&1 & head -c 1048576 /dev/zero; exit 3")
		o.By, o.Env = by, []string{"MARK=" + name}
		cmd := o.command(t)
		out, err := cmd.Output() // reads to the end of the pipe, which the sleepers hold
		if code(err) != 3 || len(out) != 1<<20 {
			t.Errorf("%v, %d bytes", err, len(out))
		}
		gone(t, name)
	})
}

func code(err error) int {
	var e *exec.ExitError
	if errors.As(err, &e) {
		return e.ExitCode()
	}
	return 0
}

// What must be there before the program is waited for; without it nothing runs.
func TestBefore(t *testing.T) {
	each(t, func(t *testing.T, by maker) {
		o := sh("echo ran")
		o.By, o.NotYet = by, "no watch"
		if got := o.do(t); got.status != StatusSetup || got.out != "" || !strings.Contains(got.errs, "no watch") {
			t.Errorf("%+v", got)
		}
	})
}

// The lock on the SyncFile is the sandbox's for as long as it lives, and what
// is locked cannot be reached from inside.
func TestSyncFile(t *testing.T) {
	each(t, func(t *testing.T, by maker) {
		lock := t.TempDir() + "/lock"
		name := tag(t)
		o := sh("ls -A /proc/1; cat /proc/1/environ /proc/1/fd/* /proc/1/task/1/status 2>&1 | grep -vc 'No such'; ls -l /proc/self/fd | grep -c lock; echo done; exec sleep 600")
		o.By, o.Sync, o.Env = by, lock, []string{"MARK=" + name}
		cmd := o.command(t)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer cmd.Wait()
		defer cmd.Process.Kill()
		if got := readUntil(t, out, "done\n"); got != "0\n0\ndone\n" {
			t.Errorf("inside: %q", got)
		}
		f, err := os.Open(lock)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != unix.EWOULDBLOCK {
			t.Errorf("not locked: %v", err)
		}
		cmd.Process.Kill()
		cmd.Wait()
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
			t.Error(err)
		}
		eventually(t, "end of all", func() bool { return len(living(t, name)) == 0 })
	})
}

// Without a terminal the program's session is its own.
func TestSessionOfItsOwn(t *testing.T) {
	o := sh(`ps -o sid= -p $$ | tr -d ' '; (echo x >/dev/tty) 2>&1 | grep -c 'No such device'; grep -E '^(Seccomp|NoNewPrivs|CapEff):' /proc/self/status | tr '\t\n' '  '`)
	if got := o.do(t); got.out != "1\n1\nCapEff: 0000000000000000 NoNewPrivs: 1 Seccomp: 2" {
		t.Errorf("%q %s", got.out, got.errs)
	}
}

// On the host's network the host's abstract sockets are out of reach; the
// program's own are not.
func TestAbstractSockets(t *testing.T) {
	name := tag(t)
	l, err := net.Listen("unix", "@"+name)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if c, err := net.Dial("unix", "@"+name); err != nil {
		t.Errorf("outside: %v", err)
	} else {
		c.Close()
	}
	const dial = "import socket, sys\n" +
		"own = socket.socket(socket.AF_UNIX); own.bind('\\0own-' + sys.argv[1]); own.listen()\n" +
		"for name in 'own-' + sys.argv[1], sys.argv[1]:\n" +
		"  try: socket.socket(socket.AF_UNIX).connect('\\0' + name); print('connected')\n" +
		"  except OSError as e: print(e.errno)\n"
	want := "connected\n1"
	if !landlock.Closable().AbstractSockets {
		want = "connected\nconnected" // and who starts it says so
	}
	each(t, func(t *testing.T, by maker) {
		o := order{Argv: []string{"python3", "-Sc", dial, name}, By: by}
		if got := o.do(t); got.out != want {
			t.Errorf("%+v", got)
		}
	})
}

// The restricted thread is never the process' first, which is among those that
// wait for work.
func TestThreadOfItsOwn(t *testing.T) {
	const many = 64
	first := make(chan bool, many)
	held := make(chan struct{})
	for range many {
		onThreadOfItsOwn(func() {
			first <- unix.Gettid() == unix.Getpid()
			<-held
		})
	}
	for range many {
		if <-first {
			t.Error("on the first thread")
		}
	}
	close(held)
}

// A kernel without scopes is refused where they must be had.
func TestMustScope(t *testing.T) {
	const missing = "signals are not closed"
	if err := (&Spec{MustScope: true}).refuses(missing); err == nil || err.Status != 125 || !strings.Contains(err.Error(), missing) {
		t.Errorf("%v", err)
	}
	if err := (&Spec{MustScope: true}).refuses(""); err != nil {
		t.Errorf("nothing is missing: %v", err)
	}
	if err := (&Spec{}).refuses(missing); err != nil {
		t.Errorf("may be missing: %v", err)
	}
}

// With a /proc of another pid namespace nothing is started, since nobody could
// be found in it.
func TestForeignProc(t *testing.T) {
	got := sh("echo ran").do(t, "unshare", "-r", "-p", "-f", "--kill-child")
	if got.status != 125 || got.out != "" || !strings.Contains(got.errs, "/proc is of another pid namespace") {
		t.Errorf("%+v", got)
	}
	if got := sh("echo ran").do(t, "unshare", "-r", "-p", "-f", "--kill-child", "--mount-proc"); got.status != 0 || got.out != "ran" {
		t.Errorf("with its own: %+v", got)
	}
}
