package launch

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// rechmod gives each of its streams and each device the mode that it has, and
// prints the errors.
const rechmod = "import os, stat\n" +
	"def same(at):\n" +
	"  try: os.chmod(at, stat.S_IMODE(os.stat(at).st_mode)); return 0\n" +
	"  except OSError as e: return e.errno\n" +
	"there = [at for at in ('/dev/' + n for n in 'null zero full random urandom tty console'.split()) if os.path.exists(at)]\n" +
	"print('streams', *map(same, (0, 1, 2)), 'devices', len(there), *sorted(set(map(same, there))))\n"

// Devices of this machine are the program's to read and to write, and not to
// change: by their names no more than by its streams.
func TestDevicesStayAsTheyAre(t *testing.T) {
	for _, terminal := range []bool{true, false} {
		o := order{Argv: []string{"python3", "-Sc", rechmod + "input()"}, Terminal: terminal}
		c := onConsole(t, o.command(t))
		c.expect("streams 30 30 30 devices 7 30\r\n")
		c.typed("\n")
		if got := c.status(); got != 0 {
			t.Errorf("status %d", got)
		}
	}
	o := order{Argv: []string{"python3", "-Sc", rechmod}}
	got := o.do(t) // standard input is /dev/null, the others are pipes
	if !strings.HasPrefix(got.out, "streams 30 ") || !strings.HasSuffix(got.out, " devices 6 30") {
		t.Errorf("%+v", got)
	}
}

// A stream is opened inside as it was open outside, and what the program does to
// it afterwards is not the caller's.
func TestDeviceKeepsItsFlags(t *testing.T) {
	in, err := os.OpenFile(os.DevNull, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	o := order{Argv: []string{"python3", "-Sc", "import fcntl\nf = fcntl.fcntl(0, fcntl.F_GETFL)\nprint(f & 3)\nfcntl.fcntl(0, fcntl.F_SETFL, f | 1024 | 2048)"}}
	cmd := o.command(t)
	cmd.Stdin = in
	out, err := cmd.Output()
	if err != nil || string(out) != "0\n" {
		t.Errorf("%v: %q", err, out)
	}
	if flags, err := unix.FcntlInt(in.Fd(), unix.F_GETFL, 0); err != nil || flags&(unix.O_APPEND|unix.O_NONBLOCK) != 0 {
		t.Errorf("%#x, %v", flags, err)
	}
}
