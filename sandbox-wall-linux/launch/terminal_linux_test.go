package launch

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/landlock"
)

// A console is a terminal with somebody at it: what runs on it is the leader of
// its session. When that ends the kernel throws away what was not read yet, so
// that it waits a second behind its last words.
type console struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	seen   strings.Builder // since the last expect
	all    strings.Builder
}

func onConsole(t *testing.T, cmd *exec.Cmd) *console {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	var unlock, n int32
	for request, arg := range map[uintptr]*int32{unix.TIOCSPTLCK: &unlock, unix.TIOCGPTN: &n} {
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(unsafe.Pointer(arg))); errno != 0 {
			t.Fatal(errno)
		}
	}
	c := &console{t: t, master: os.NewFile(uintptr(fd), "console"), cmd: cmd}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait(); c.master.Close() })
	return c
}

// expect reads until what is written matches, and gives what did.
func (c *console) expect(pattern string) string {
	c.t.Helper()
	re := regexp.MustCompile(pattern)
	buf := make([]byte, 4096)
	c.master.SetReadDeadline(time.Now().Add(20 * time.Second))
	for {
		if at := re.FindStringIndex(c.seen.String()); at != nil {
			text := c.seen.String()
			c.seen.Reset()
			c.seen.WriteString(text[at[1]:])
			return text[at[0]:at[1]]
		}
		n, err := c.master.Read(buf)
		c.seen.Write(buf[:n])
		c.all.Write(buf[:n])
		if err != nil {
			out, _ := exec.Command("sh", "-c", fmt.Sprintf("ps -s %d -o pid,ppid,pgid,tpgid,stat,wchan:20,args | cut -c1-110; ps -eo pid,ppid,pgid,sid,stat,wchan:20,args | grep copy | cut -c1-100", c.cmd.Process.Pid)).CombinedOutput()
			c.t.Fatalf("no %q: %v after %q\n%s", pattern, err, c.all.String(), out)
		}
	}
}

func (c *console) typed(text string) {
	c.t.Helper()
	if _, err := c.master.WriteString(text); err != nil {
		c.t.Fatal(err)
	}
}

// told types a command to a shell until what it brings about is seen: on a busy
// machine what is typed right behind a prompt can be lost, when the shell has
// written that and has not set the terminal for it yet.
func (c *console) told(command, pattern string) {
	c.t.Helper()
	re := regexp.MustCompile(pattern)
	for range 5 {
		c.typed(command)
		c.master.SetReadDeadline(time.Now().Add(4 * time.Second))
		for buf := make([]byte, 4096); ; {
			if at := re.FindStringIndex(c.seen.String()); at != nil {
				rest := c.seen.String()[at[1]:]
				c.seen.Reset()
				c.seen.WriteString(rest)
				return
			}
			n, err := c.master.Read(buf)
			c.seen.Write(buf[:n])
			c.all.Write(buf[:n])
			if err != nil {
				break
			}
		}
	}
	c.t.Fatalf("%q: no %q after %q", command, pattern, c.all.String())
}

func (c *console) status() int {
	c.t.Helper()
	done := make(chan int, 1)
	go func() {
		buf := make([]byte, 4096)
		c.master.SetReadDeadline(time.Time{})
		for { // so that nobody waits to write
			n, err := c.master.Read(buf)
			if err != nil {
				return
			}
			c.all.Write(buf[:n])
		}
	}()
	go func() { c.cmd.Wait(); done <- c.cmd.ProcessState.ExitCode() }()
	select {
	case code := <-done:
		return code
	case <-time.After(20 * time.Second):
		c.t.Fatalf("did not end")
		return 0
	}
}

// onShell starts an interactive shell on a console, in which the command is r.
func onShell(t *testing.T, o order) *console {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "--norc", "--noprofile", "-i")
	cmd.Env = append(os.Environ(), "PS1=shell>", "ORDER="+string(text), "EXE="+exe, "TERM=dumb", "HISTFILE=")
	c := onConsole(t, cmd)
	c.expect("shell>")
	c.typed("r() { " + roleVar + `="$ORDER" "$EXE"; }` + "\n")
	c.expect("shell>")
	return c
}

func terminal1(script string, by maker) order {
	o := sh(script)
	o.Terminal, o.By = true, by
	return o
}

// Ctrl-C reaches a program that catches it, once, and ends one that does not.
func TestCtrlC(t *testing.T) {
	each(t, func(t *testing.T, by maker) {
		for _, terminal := range []bool{true, false} {
			o := terminal1(`trap 'echo caught' INT; trap 'echo end; sleep 1; exit 4' USR1; echo ready; while :; do sleep 0.02; done`, by)
			o.Terminal = terminal
			c := onConsole(t, o.command(t))
			c.expect("ready\r\n")
			for range 3 {
				c.typed("\x03")
				c.expect("caught\r\n")
			}
			c.cmd.Process.Signal(unix.SIGUSR1)
			if got := c.expect(`(?s).*end\r\n`); got != "end\r\n" {
				t.Errorf("terminal %v: twice: %q", terminal, got)
			}
			if got := c.status(); got != 4 {
				t.Errorf("terminal %v: status %d", terminal, got)
			}
			o = terminal1("echo ready; exec sleep 600", by)
			o.Terminal = terminal
			c = onConsole(t, o.command(t))
			c.expect("ready\r\n")
			c.typed("\x03")
			if got := c.status(); got != 130 {
				t.Errorf("terminal %v: status %d", terminal, got)
			}
		}
	})
}

// copier copies lines, and says when it goes on: what is typed before the shell
// has set the terminal for it is lost.
const copier = "import os, signal, subprocess, sys\n" +
	"signal.signal(signal.SIGCONT, lambda *_: os.write(1, b'goes on\\n'))\n" +
	"subprocess.Popen(['sleep', '600'])\n" +
	"print('ready', flush=True)\n" +
	"for line in iter(sys.stdin.readline, ''): print('copy', line, end='', flush=True)\n"

// Ctrl-Z stops the job in the shell that started it, and fg lets it go on.
func TestCtrlZ(t *testing.T) {
	each(t, func(t *testing.T, by maker) {
		for _, terminal := range []bool{true, false} {
			c := onShell(t, order{Argv: []string{"python3", "-Sc", copier}, Terminal: terminal, By: by})
			c.told("r\n", "ready\r\n")
			for _, word := range []string{"one", "two"} {
				c.typed(word + "\n")
				c.expect("copy " + word + "\r\n")
				c.typed("\x1a")
				c.expect("Stopped")
				c.expect("shell>")
				c.told("fg\n", "goes on\r\n")
			}
			c.typed("three\n")
			c.expect("copy three\r\n")
			c.typed("\x04")
			c.expect("shell>")
			c.typed("echo status $?; sleep 1; exit\n")
			c.expect("status 0\r\n")
			c.status()
		}
	})
}

// A program that catches Ctrl-Z to clean up has the time to, and one that goes
// on is not left behind.
func TestCtrlZCaught(t *testing.T) {
	const cleans = "import os, signal, time\n" +
		"signal.signal(signal.SIGTSTP, lambda *_: (time.sleep(0.3), os.write(1, b'cleaned\\n'), os.kill(os.getpid(), signal.SIGSTOP)))\n" +
		"os.write(1, b'ready\\n')\n" +
		"while True: time.sleep(1)\n"
	c := onShell(t, order{Argv: []string{"python3", "-Sc", cleans}, Terminal: true})
	c.typed("r\n")
	c.expect("ready\r\n")
	c.typed("\x1a")
	c.expect(`cleaned\r\n(?s).*Stopped(?s).*shell>`)
	c.told("kill %1; fg\n", "shell>")
	c.typed("exit\n")
	c.status()
}

// An interactive shell inside has its own jobs.
func TestShellInside(t *testing.T) {
	each(t, func(t *testing.T, by maker) {
		o := order{Argv: []string{"bash", "--norc", "--noprofile", "-i"}, Env: []string{"PS1=inside>", "TERM=dumb", "HISTFILE=", "COPIER=" + copier}, Terminal: true, By: by}
		c := onShell(t, o)
		c.told("r\n", "inside>")
		if strings.Contains(c.all.String(), "no job control") {
			t.Errorf("no job control: %q", c.all.String())
		}
		c.typed("python3 -Sc \"$COPIER\"\n")
		c.expect("ready\r\n")
		c.typed("one\n")
		c.expect("copy one\r\n")
		c.typed("\x1a")
		c.expect("Stopped")
		c.expect("inside>")
		c.told("fg\n", "goes on\r\n")
		c.typed("two\n")
		c.expect("copy two\r\n")
		c.typed("\x03")
		c.expect("inside>")
		c.typed("tty; exit 5\n")
		c.expect("/dev/pts/|/dev/console")
		c.expect("shell>")
		c.typed("echo status $?; sleep 1; exit\n")
		c.expect("status 5\r\n")
		c.status()
	})
}

// A shell inside puts itself in the foreground. A script outside, which is no
// shell that looks after jobs, has its terminal back behind it.
func TestTerminalIsGivenBack(t *testing.T) {
	o := order{Argv: []string{"bash", "--norc", "--noprofile", "-i"}, Env: []string{"PS1=inside>", "TERM=dumb", "HISTFILE="}, Terminal: true}
	c := onConsole(t, o.command(t, "sh", "-c", `"$0"; echo back $?; read x; echo got $x; sleep 1`))
	c.expect("inside>")
	c.typed("exit 6\n")
	c.expect("back 6\r\n")
	c.typed("this\n")
	c.expect("got this\r\n")
	if got := c.status(); got != 0 {
		t.Errorf("status %d", got)
	}
}

// A shell that puts the terminal back to who had it ends with its own status, in
// silence: who had it has a number where it is. One that looks after jobs in a
// script is not stopped for want of the terminal, where no shell would see it.
func TestShellPutsBack(t *testing.T) {
	each(t, func(t *testing.T, by maker) {
		for _, argv := range [][]string{
			{"sh", "-i", "-c", "echo works; exit 3"},
			{"sh", "-m", "-c", "sleep 0; echo works; exit 3"},
			{"sh", "-i", "-c", "exec </dev/null >/dev/null; echo works >/dev/tty; exit 3"},
			{"bash", "-m", "-c", "sleep 0; echo works; exit 3"},
			{"bash", "-c", "set -m; sleep 0 & wait; echo works; exit 3"},
			{"python3", "-Sc", "import os\nos.setpgid(0, 0)\nos.tcsetpgrp(0, os.getpgrp())\nprint('works')\nos._exit(3)"},
		} {
			o := order{Argv: argv, Terminal: true, By: by}
			c := onConsole(t, o.command(t, "sh", "-c", `"$0"; echo back $?; read x; echo got $x; sleep 1`))
			c.expect("works\r\n")
			c.expect("back 3\r\n")
			c.typed("this\n")
			c.expect("got this\r\n")
			c.status()
			if strings.Contains(c.all.String(), "annot") {
				t.Errorf("%q: %q", argv, c.all.String())
			}
		}
	})
}

// A new size of the window is told once; the program has the size and the
// terminal itself.
func TestWindowSize(t *testing.T) {
	each(t, func(t *testing.T, by maker) {
		o := terminal1(`trap 'stty size' WINCH; trap 'echo end; sleep 1; exit 4' USR1; (: >/dev/tty) && echo tty; echo ready; while :; do sleep 0.02; done`, by)
		c := onConsole(t, o.command(t))
		c.expect("tty\r\nready\r\n")
		for _, rows := range []uint16{33, 44} {
			if err := unix.IoctlSetWinsize(int(c.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: 101}); err != nil {
				t.Fatal(err)
			}
			c.expect(fmt.Sprintf("%d 101\r\n", rows))
		}
		c.cmd.Process.Signal(unix.SIGUSR1)
		if got := c.expect(`(?s).*end\r\n`); got != "end\r\n" {
			t.Errorf("twice: %q", got)
		}
		c.status()
	})
}

// With its terminal a program cannot type into it, and without it has none.
func TestTypingIntoTheTerminal(t *testing.T) {
	const push = "import fcntl, termios, os, time\n" +
		"for f in (lambda: fcntl.ioctl(0, termios.TIOCSTI, b'x'), lambda: os.open('/dev/tty', os.O_RDWR)):\n" +
		"  try: f(); print('did')\n" +
		"  except OSError as e: print(e.errno)\n" +
		"import sys; sys.stdout.flush(); time.sleep(1)\n"
	for terminal, want := range map[bool]string{true: "1\r\ndid\r\n", false: "1\r\n6\r\n"} {
		o := order{Argv: []string{"python3", "-Sc", push}, Terminal: terminal}
		c := onConsole(t, o.command(t))
		c.expect(want)
		c.status()
	}
}

// A program on its caller's terminal is in its caller's process group, and
// cannot signal who else is in it.
func TestSignalToTheWholeGroup(t *testing.T) {
	each(t, func(t *testing.T, by maker) {
		o := terminal1(`trap 'echo program' USR1; kill -USR1 0 2>/dev/null; sleep 0.3; echo end`, by)
		c := onConsole(t, o.command(t, "sh", "-c", `trap 'echo outside' USR1; "$0"; echo status $?; sleep 1`))
		got := c.expect(`(?s).*status \d+\r\n`)
		want := "program\r\nend\r\nstatus 0\r\n"
		if !landlock.Closable().Signals {
			want = "end\r\nstatus 0\r\n" // the filter refuses the signal wholly
		}
		if got != want {
			t.Errorf("%q", got)
		}
		c.status()
	})
}

// Without the pid namespace a terminal needs the stage, and without that is
// refused rather than half kept.
func TestTerminalNeedsTheStage(t *testing.T) {
	o := terminal1("echo ran", bare)
	o.NoStage = true
	if got := o.do(t); got.status != 125 || got.out != "" || !strings.Contains(got.errs, "a terminal cannot be kept") {
		t.Errorf("%+v", got)
	}
}

// A program that stops itself where no shell looks after jobs does not stop us,
// who still hear what shall end it.
func TestStoppedWithNoShell(t *testing.T) {
	t.Parallel()
	name := tag(t)
	o := terminal1("echo ready; kill -STOP $$", kernel)
	o.Argv = append(o.Argv, name)
	c := onConsole(t, o.command(t))
	c.expect("ready\r\n")
	program := children(firstOf(t, c.cmd.Process.Pid))[0]
	eventually(t, "stop", func() bool { return state(program) == 'T' })
	time.Sleep(5 * noticeEvery)
	if state(c.cmd.Process.Pid) == 'T' {
		t.Error("we are stopped")
	}
	if err := c.cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := c.status(); got != 128+9 {
		t.Errorf("status %d", got)
	}
	gone(t, name)
}

// The terminal goes away: its program is told, and ends.
func TestHangup(t *testing.T) {
	name := tag(t)
	o := terminal1("echo ready; exec sleep 600", kernel)
	o.Argv = append(o.Argv, name)
	c := onConsole(t, o.command(t))
	c.expect("ready\r\n")
	c.master.Close()
	c.cmd.Wait()
	if got := c.cmd.ProcessState.ExitCode(); got != 128+1 {
		t.Errorf("status %d", got)
	}
	gone(t, name)
}

// The stage says what it cannot become.
func TestInside(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"plain": 0o644, "bare": 0o755} {
		if err := os.WriteFile(dir+"/"+name, []byte("exit 8\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		argv   []string
		status int
		out    string
	}{
		{[]string{"sh", "-c", "trap; grep SigIgn /proc/self/status; exit 3"}, 3, "SigIgn:\t0000000000000000\n"},
		{[]string{"no-such"}, 127, "no-such: not found inside the sandbox\n"},
		{[]string{"/no/such"}, 127, "/no/such: not found inside the sandbox\n"},
		{[]string{"plain"}, 126, "plain: permission denied\n"},
		{[]string{"bare"}, 8, ""},
		{nil, 127, "no program to start\n"},
	} {
		cmd := exec.Command("sh", append([]string{"-c", `trap "" INT QUIT TSTP TTOU TERM; exec "$@"`, "sh", exe}, row.argv...)...)
		cmd.Env = []string{roleVar + "=inside", "PATH=/usr/bin:/bin:" + dir}
		out, err := cmd.CombinedOutput()
		if code(err) != row.status || string(out) != row.out {
			t.Errorf("%v: %v %q", row.argv, err, out)
		}
	}
}
