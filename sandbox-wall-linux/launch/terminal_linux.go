package launch

import (
	"os"

	"golang.org/x/sys/unix"
)

// A terminal is the controlling one, which the program shares.
type terminal struct {
	fd int // -1 is none
	// foreground is whether we were its foreground when we started.
	foreground bool
}

func openTerminal(shared bool) terminal {
	t := terminal{fd: -1}
	if !shared {
		return t
	}
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return t // the caller has none
	}
	t.fd = fd
	t.foreground = t.ours()
	return t
}

func (t terminal) close() {
	if t.fd >= 0 {
		unix.Close(t.fd)
	}
}

// ours is whether our process group is its foreground, and so whether what is
// typed on it signals us and the program alike.
func (t terminal) ours() bool {
	if t.fd < 0 {
		return false
	}
	group, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// Foreground is whether this process is in the foreground of its terminal, and has
// what is typed there as everything in it has.
func Foreground() bool {
	t := openTerminal(true)
	defer t.close()
	return t.foreground
}

// takeBack makes us the foreground again, once nothing is left of the sandbox.
// A shell inside puts itself there and cannot put us back, whose group has no
// number where it is. What is left of its group is nobody; where there is
// somebody, it is the caller's own shell, which put us behind.
func (t terminal) takeBack() {
	if !t.foreground || t.ours() {
		return
	}
	group, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	if err != nil || group > 0 && unix.Kill(-group, 0) != unix.ESRCH {
		return
	}
	t.become(unix.Getpgrp())
}

func onTerminal(f *os.File) bool { return f != nil && isTerminal(int(f.Fd())) }

// toFront makes the program a process group of its own, and that the foreground of
// its terminal.
func toFront() {
	if unix.Setpgid(0, 0) != nil {
		return
	}
	t := openTerminal(true)
	t.become(unix.Getpgrp())
	t.close()
}
