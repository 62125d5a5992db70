package launch

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A runner is a process that calls Run, with a program that said it is ready.
type runner struct {
	*exec.Cmd
	t    *testing.T
	name string
	by   maker
	out  io.Reader
}

// begin starts a program that says "ready" once it is. Its tag is its last
// argument.
func begin(t *testing.T, o order) *runner {
	t.Helper()
	r := &runner{t: t, name: tag(t), by: o.By}
	o.Argv = append(o.Argv, r.name)
	r.Cmd = o.command(t)
	r.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := r.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.out = out
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Process.Kill(); r.Wait() })
	readUntil(t, r.out, "ready\n")
	return r
}

func (r *runner) signal(s syscall.Signal) {
	r.t.Helper()
	if err := r.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}

// parts gives the process that was started, bubblewrap's or the sandbox's
// first, that first one, and the program's.
func (r *runner) parts() (started, first, program int) {
	r.t.Helper()
	if r.by == kernel || r.by == "" {
		first = firstOf(r.t, r.Process.Pid)
		return first, first, children(first)[0]
	}
	started = bubblewrap(r.t, r.Process.Pid)
	first = children(started)[0]
	return started, first, children(first)[0]
}

// ended waits for the end and gives the status; by then nothing may be left.
func (r *runner) ended() int {
	r.t.Helper()
	r.Wait()
	gone(r.t, r.name)
	if ws := r.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() {
		return -int(ws.Signal())
	}
	return r.ProcessState.ExitCode()
}

const traps = `for s in TERM HUP INT QUIT USR1 USR2 WINCH TSTP CONT ALRM ABRT IO PWR; do trap "echo $s" $s; done; trap 'echo end; exit 4' URG`
const looping = `; echo ready; while :; do sleep 0.02; done`

func TestSignalsArriveOnce(t *testing.T) {
	each(t, func(t *testing.T, by maker) {
		for _, group := range []bool{false, true} {
			o := sh(traps + looping)
			o.By = by
			r := begin(t, o)
			var want strings.Builder
			for _, s := range []syscall.Signal{
				unix.SIGUSR1, unix.SIGWINCH, unix.SIGINT, unix.SIGCONT, unix.SIGUSR2, unix.SIGINT, unix.SIGQUIT, unix.SIGHUP, unix.SIGTERM,
				unix.SIGALRM, unix.SIGABRT, unix.SIGIO, unix.SIGPWR,
			} {
				if group {
					// As a shell does to a job, and a terminal to its foreground.
					if err := unix.Kill(-r.Process.Pid, s); err != nil {
						t.Fatal(err)
					}
				} else {
					r.signal(s)
				}
				name := strings.TrimPrefix(unix.SignalName(s), "SIG") + "\n"
				want.WriteString(name)
				if got := readUntil(t, r.out, "\n"); got != name {
					t.Fatalf("group %v: after %s came %q", group, name, got)
				}
			}
			// Were one to come twice, it would come before this.
			_, _, program := r.parts()
			if err := unix.Kill(program, unix.SIGURG); err != nil {
				t.Fatal(err)
			}
			if got := readUntil(t, r.out, "end\n"); got != "end\n" {
				t.Errorf("group %v: a signal came twice: %q", group, got)
			}
			if got := r.ended(); got != 4 {
				t.Errorf("group %v: status %d", group, got)
			}
		}
	})
}

// The program's children do not get what is for the program.
func TestSignalsAreForTheProgramAlone(t *testing.T) {
	r := begin(t, sh(`sh -c 'trap "echo child; exit" USR1; `+`while :; do sleep 0.02; done' & trap 'echo program; kill $!; exit 6' USR1`+looping))
	r.signal(unix.SIGUSR1)
	if got := readUntil(t, r.out, "\n"); got != "program\n" {
		t.Errorf("%q", got)
	}
	if got := r.ended(); got != 6 {
		t.Errorf("status %d", got)
	}
}

func TestSignalsThatEnd(t *testing.T) {
	each(t, func(t *testing.T, by maker) {
		for _, s := range []syscall.Signal{unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGUSR1, unix.SIGALRM, unix.SIGABRT} {
			o := order{Argv: []string{"python3", "-Sc", "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\nprint('ready', flush=True)\ntime.sleep(600)"}, By: by}
			r := begin(t, o)
			r.signal(s)
			if got := r.ended(); got != 128+int(s) {
				t.Errorf("%v: status %d", s, got)
			}
		}
	})
}

// nohup means the program too.
func TestIgnoredHangup(t *testing.T) {
	o := sh("trap 'exit 3' USR1; grep ^SigIgn /proc/self/status; echo ready; while :; do sleep 0.02; done")
	name := tag(t)
	o.Argv = append(o.Argv, name)
	cmd := o.command(t, "sh", "-c", `trap "" HUP; exec "$@"`, "sh")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	text := readUntil(t, out, "ready\n")
	if p := readStatus(text); !p.ignores(unix.SIGHUP) {
		t.Errorf("inside: %q", text)
	}
	cmd.Process.Signal(unix.SIGHUP)
	cmd.Process.Signal(unix.SIGUSR1)
	if err := cmd.Wait(); code(err) != 3 {
		t.Errorf("%v", err)
	}
}

// Before there is a program, a signal ends the sandbox and no program starts.
// The set-up is held up by a file that bubblewrap reads, or at its end.
func TestSignalBeforeTheProgram(t *testing.T) {
	each(t, func(t *testing.T, by maker) {
		for _, s := range []syscall.Signal{unix.SIGTERM, unix.SIGINT} {
			fifo := t.TempDir() + "/fifo"
			if err := unix.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			name := tag(t)
			o := order{Argv: []string{"echo", "ran", name}, Keep: 3, Args: []string{"--ro-bind-data", "3", "/run/x"}, By: by}
			if by == kernel {
				o.Keep, o.Args, o.Held = 0, nil, t.TempDir()+"/held"
			}
			cmd := o.command(t, "sh", "-c", `exec 3<>"$0"; exec "$@"`, fifo)
			var out, errs strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the sandbox", func() bool {
				if by == kernel {
					_, err := os.Stat(o.Held)
					return err == nil
				}
				return len(living(t, name)) >= 3 // us, and two of bubblewrap's own
			})
			cmd.Process.Signal(unix.SIGUSR1) // which is for nobody
			cmd.Process.Signal(s)
			cmd.WaitDelay = 20 * time.Second
			if err := cmd.Wait(); code(err) != 128+int(s) || out.Len() > 0 {
				t.Errorf("%v: %v %q %s", s, err, out.String(), errs.String())
			}
			gone(t, name)
		}
	})
}

// A program that does not end when it is told to is ended.
func TestGrace(t *testing.T) {
	t.Parallel()
	r := begin(t, sh("trap 'echo no' TERM; (trap '' TERM; exec sleep 600) & echo ready; while :; do sleep 0.1; done"))
	before := time.Now()
	r.signal(unix.SIGTERM)
	if got := readUntil(t, r.out, "no\n"); got != "no\n" {
		t.Errorf("%q", got)
	}
	if got := r.ended(); got != 128+9 {
		t.Errorf("status %d", got)
	}
	if took := time.Since(before); took < graceTime {
		t.Errorf("ended after %v", took)
	}
}

func state(pid int) byte {
	p, _ := statusOf(pid)
	return p.state
}

// Stopped, the program stops and so do we; continued, both go on.
func TestStopAndGoOn(t *testing.T) {
	each(t, func(t *testing.T, by maker) {
		for what, script := range map[string]string{
			"default": "sleep 600 & echo ready; exec sleep 600",
			"catches": "trap 'kill -STOP $$' TSTP; echo ready; while :; do sleep 0.02; done",
		} {
			o := sh(script)
			o.By = by
			r := begin(t, o)
			_, _, program := r.parts()
			for range 2 {
				r.signal(unix.SIGTSTP)
				eventually(t, what+": stop", func() bool { return state(program) == 'T' && state(r.Process.Pid) == 'T' })
				if what == "default" {
					eventually(t, "stop of a child of the program", func() bool { return state(children(program)[0]) == 'T' })
				}
				r.signal(unix.SIGCONT)
				eventually(t, what+": go on", func() bool { return state(program) != 'T' && state(r.Process.Pid) != 'T' })
			}
			r.signal(unix.SIGTERM)
			if got := r.ended(); got != 128+15 {
				t.Errorf("%s: status %d", what, got)
			}
		}
		o := sh("trap '' TSTP; trap 'exit 3' USR1" + looping)
		o.By = by
		r := begin(t, o)
		r.signal(unix.SIGTSTP)
		r.signal(unix.SIGUSR1)
		if got := r.ended(); got != 3 {
			t.Errorf("ignores: status %d", got)
		}
	})
}

// Whatever part is killed, the rest ends.
func TestKilledParts(t *testing.T) {
	each(t, func(t *testing.T, by maker) {
		for _, part := range []string{"runner", "bubblewrap", "first", "program"} {
			o := sh("sleep 600 & setsid sleep 600 & echo ready; while :; do sleep 0.1; done")
			o.By = by
			r := begin(t, o)
			bwrap, first, program := r.parts()
			below := append([]int{bwrap, first}, children(first)...)
			pid := map[string]int{"runner": r.Process.Pid, "bubblewrap": bwrap, "first": first, "program": program}[part]
			if err := unix.Kill(pid, unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
			want := 128 + 9
			if part == "runner" {
				want = -9
				r.Wait()
				// Those that are dying have no name anymore.
				eventually(t, part+": end of all", func() bool {
					return !slices.ContainsFunc(below, func(pid int) bool { p, err := statusOf(pid); return err == nil && p.state != 'Z' })
				})
			}
			if got := r.ended(); got != want {
				t.Errorf("%s: status %d", part, got)
			}
			for _, pid := range below {
				if p, err := statusOf(pid); err == nil && p.state != 'Z' {
					t.Errorf("%s: process %d is in state %c", part, pid, p.state)
				}
			}
		}
	})
}

// Killed at any moment of its start, Run leaves nothing; nor does bubblewrap,
// whose end Run sees.
func TestKilledWhileStarting(t *testing.T) {
	for i := range 120 {
		name := tag(t)
		o := order{Argv: []string{"sh", "-c", "while :; do sleep 0.1; done", name}}
		cmd := o.command(t)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i/2) * 500 * time.Microsecond)
		if i%2 == 0 {
			cmd.Process.Kill()
		} else {
			eventually(t, "bubblewrap", func() bool {
				for _, pid := range childrenOfThreads(cmd.Process.Pid) {
					return unix.Kill(pid, unix.SIGKILL) == nil
				}
				return false
			})
		}
		cmd.Wait()
		eventually(t, fmt.Sprintf("end of all, killed after %d", i), func() bool { return len(living(t, name)) == 0 })
	}
}
