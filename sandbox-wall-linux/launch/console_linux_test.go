package launch

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// openedPty opens a terminal of a file system of them, and gives its number.
func openedPty(ptmx string) (master *os.File, number int, err error) {
	fd, err := unix.Open(ptmx, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, 0, err
	}
	master = os.NewFile(uintptr(fd), ptmx)
	if number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN); err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	return master, number, err
}

// The terminal that a stream is on is found, and not another of its name and
// number, which is somebody else's.
func TestConsoleIsTheStreams(t *testing.T) {
	master, number, err := openedPty("/dev/ptmx")
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	at := "/dev/pts/" + strconv.Itoa(number)
	slave, err := os.OpenFile(at, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	if got := consoleOf(nil, slave); got != at {
		t.Errorf("%q, want %q", got, at)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
		`mount -t devpts -o newinstance,ptmxmode=666 devpts /dev/pts && exec "$0" -test.run '^TestConsoleElsewhere$'`, exe)
	cmd.Env = append(os.Environ(), "LAUNCH_TEST_CONSOLE="+strconv.Itoa(number))
	cmd.Stdin = slave
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), `there: true, console: ""`) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestConsoleElsewhere is the child of TestConsoleIsTheStreams, where other
// terminals are at the same places.
func TestConsoleElsewhere(t *testing.T) {
	last, err := strconv.Atoi(os.Getenv("LAUNCH_TEST_CONSOLE"))
	if err != nil {
		return
	}
	for range last + 1 {
		master, _, err := openedPty("/dev/pts/ptmx")
		if err != nil {
			t.Fatal(err)
		}
		defer master.Close()
	}
	_, err = os.Lstat("/dev/pts/" + strconv.Itoa(last))
	fmt.Printf("there: %v, console: %q\n", err == nil, consoleOf(os.Stdin))
}
