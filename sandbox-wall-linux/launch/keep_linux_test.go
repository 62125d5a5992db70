package launch

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Output that a program held back goes on when it has ended, with the terminal
// its own or not.
func TestOutputGoesOn(t *testing.T) {
	for _, by := range []maker{kernel, shielded} {
		for _, terminal := range []bool{true, false} {
			o := order{By: by, Terminal: terminal, Argv: []string{"python3", "-Sc", "import termios\ntermios.tcflow(1, termios.TCOOFF)"}}
			c := onConsole(t, o.command(t, "sh", "-c", `"$0"; echo status $?; read x`))
			c.expect("status 0\r\n")
			c.typed("\n")
			c.status()
		}
	}
}

// A terminal that is not the program's own is set back too.
func TestModesAreSetBack(t *testing.T) {
	o := order{Argv: []string{"sh", "-c", "stty -echo -icanon; exit 3"}}
	c := onConsole(t, o.command(t, "sh", "-c", `"$0"; echo status $?; stty -a; read x`))
	c.expect("status 3\r\n")
	c.expect(` icanon `)
	c.expect(` echo `)
	c.typed("\n")
	c.status()
}

// What the program makes of a pipe that it shares with its caller does not stay:
// how it is open, and who may open it.
func TestPipeIsGivenBack(t *testing.T) {
	for _, by := range []maker{kernel, shielded} {
		var pipe [2]int
		if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		out := os.NewFile(uintptr(pipe[1]), "out")
		defer out.Close()
		defer unix.Close(pipe[0])
		var was, is unix.Stat_t
		if err := unix.Fstat(pipe[1], &was); err != nil {
			t.Fatal(err)
		}
		o := order{By: by, Argv: []string{"python3", "-Sc", "import os, fcntl\n" +
			"fcntl.fcntl(1, fcntl.F_SETFL, os.O_DIRECT | os.O_APPEND | os.O_NONBLOCK)\n" +
			"assert fcntl.fcntl(1, fcntl.F_GETFL) & os.O_DIRECT\nos.fchmod(1, 0)"}}
		cmd := o.command(t)
		cmd.Stdout, cmd.Stderr = out, os.Stderr
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v", by, err)
		}
		flags, err := unix.FcntlInt(uintptr(pipe[1]), unix.F_GETFL, 0)
		if err != nil || flags != unix.O_WRONLY {
			t.Errorf("%s: flags %#x, %v", by, flags, err)
		}
		if err := unix.Fstat(pipe[1], &is); err != nil || is.Mode != was.Mode {
			t.Errorf("%s: mode %o, was %o, %v", by, is.Mode, was.Mode, err)
		}
	}
}
