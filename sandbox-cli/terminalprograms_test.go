package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// shell is an interactive one on a terminal, outside, in which `box` starts what
// follows it in a sandbox.
func (s *sandbox) shell(t *testing.T, net string) *typist {
	t.Helper()
	y := s.onTerminal(t, "bash", "--norc", "--noprofile", "-i")
	y.see("$ ")
	y.enter("box() { " + lnk() + " sandbox run --yes --write . " + net + " -- \"$@\"; echo status-$?; }\n")
	y.see("$ ")
	return y
}

// Programs that take the whole terminal are used as they are without a
// sandbox: an editor that is stopped and goes on, a pager, a table that is
// redrawn, a terminal in the terminal.
func TestWholeTerminalPrograms(t *testing.T) {
	s := newSandbox(t)
	s.put("long.txt", "first-line\n"+strings.Repeat("x\n", 500)+"last-line\n")
	y := s.shell(t, "")

	y.enter("box vi -u NONE note.txt\n")
	y.see("[New")
	y.enter("iwritten\x1b")
	y.enter("\x1a")
	y.see("Stopped")
	y.enter("echo shell-$((40+2))\n")
	y.see("shell-42")
	y.enter("fg; echo status-$?\n")
	y.see("\x1b[?1049h") // it has the screen again
	y.see("written")
	y.enter(":wq\r")
	y.see("status-0")
	if text, err := os.ReadFile(filepath.Join(s.project, "note.txt")); err != nil || string(text) != "written\n" {
		t.Errorf("vi wrote %q: %v", text, err)
	}

	y.enter("box less long.txt\n")
	y.see("first-line")
	y.enter("G")
	y.see("last-line")
	y.enter("q")
	y.see("status-0")

	y.enter("box top -d 60\n")
	y.see("COMMAND")
	if err := pty.Setsize(y.tty, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	y.see("COMMAND") // drawn anew
	y.enter("q")
	y.see("status-0")

	y.enter("box tmux -f /dev/null -S /tmp/tmux new-session 'stty size; read line; exit'\n")
	y.see("29 100") // one line is tmux's own
	y.enter("\n")
	y.see("[exited]")
	y.see("status-0")
	y.enter("exit\n")
	waitFor(t, y.cmd)
}

// A program that stops itself, and all of its process group with it, gives the
// shell back, and so does a shell inside that is suspended.
func TestStoppedByItself(t *testing.T) {
	for _, net := range []string{"", allow} {
		s := newSandbox(t)
		y := s.shell(t, net)
		y.enter("box sh -c 'echo u''p; kill -TSTP 0; echo ba''ck; read line; exit 4'\n")
		y.see("up")
		y.see("Stopped")
		y.enter("fg; echo status-$?\n")
		y.see("back")
		y.enter("\n")
		y.see("status-4")
		y.enter("box bash --norc -i\n")
		y.see("bash-")
		y.enter("suspend\n")
		y.see("Stopped")
		y.enter("fg; echo status-$?\n")
		y.enter("echo inside-$((40+2))\n")
		y.see("inside-42")
		y.enter("exit 6\n")
		y.see("status-6")
		y.enter("exit\n")
		waitFor(t, y.cmd)
	}
}

// What a program that crashes did to the terminal is undone; what one that
// ended well did stays.
func TestTerminalIsSetBack(t *testing.T) {
	s := newSandbox(t)
	s.put("spoil.py", `import fcntl, os, signal, sys, termios, tty
tty.setraw(0)
fcntl.ioctl(0, 0x540C)  # TIOCEXCL
fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_NONBLOCK)
how = sys.argv[1]
if how == "group":
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpgrp())
    how = "9"
if how == "exit": os._exit(3)
if how == "well": os._exit(0)
os.kill(os.getpid(), int(how))
`)
	s.put("look.py", `import fcntl, os, struct, termios
exclusive = struct.unpack("i", fcntl.ioctl(0, 0x80045440, b"\0\0\0\0"))[0]
blocks = not fcntl.fcntl(0, fcntl.F_GETFL) & os.O_NONBLOCK
print("exclusive", exclusive, "blocks", blocks, "raw", not termios.tcgetattr(0)[3] & termios.ICANON, "ours", os.tcgetpgrp(0) == os.getpgrp(), end=".\r\n")
`)
	for _, net := range []string{"", allow} {
		for how, want := range map[string]string{
			"9": "raw False", "11": "raw False", "exit": "raw False", "group": "raw False", "well": "raw True",
		} {
			script := lnk() + " sandbox run --yes --write . " + net + " -- python3 spoil.py " + how + "; python3 look.py; stty sane"
			y := s.onTerminal(t, "sh", "-c", script)
			y.see("ours")
			y.see(".")
			waitFor(t, y.cmd)
			if !strings.Contains(y.all(), "exclusive 0 blocks True "+want+" ours True") {
				t.Errorf("%q %s: %q, want %q", net, how, y.all(), want)
			}
		}
	}
}

// Nothing is typed into the terminal, whatever the high bits of the request
// are, which the kernel does not look at; without the wall it is.
func TestNothingIsTyped(t *testing.T) {
	s := newSandbox(t)
	s.put("type.py", `import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.argtypes = [ctypes.c_long] * 4
buf = ctypes.create_string_buffer(b"\x03#")
number = 16 if sys.platform == "linux" and ctypes.sizeof(ctypes.c_long) == 8 and "x86_64" in __import__("platform").machine() else 29
for request in (0x5412, 0x541C, 0x5423):
    for high in (0, 1 << 32, 0xdeadbeef << 32, -1 << 32):
        r = libc.syscall(number, 0, request | high, ctypes.addressof(buf) + 1)
        print("did" if r == 0 else "errno %d" % ctypes.get_errno(), end=";\r\n")
`)
	y := s.onTerminal(t, lnk(), "sandbox", "run", "--yes", "--write", s.project, "--", "/usr/bin/python3", "type.py")
	waitFor(t, y.cmd)
	for range 12 {
		y.see("errno 1;")
	}
	if strings.Contains(y.all(), "did") || strings.Contains(y.all(), "#") {
		t.Errorf("typed: %q", y.all())
	}
}
