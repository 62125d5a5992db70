package tool

import (
	"bytes"
	"os"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tool/frame"
)

// openTerminal makes a terminal of a size: our side, on which reads can be
// ended by closing it, and the tool's, opened by descriptor and not by a name
// (TIOCGPTPEER, Linux 4.13).
func openTerminal(size frame.WindowOf) (master, slave *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, &os.PathError{Op: "open", Path: "/dev/ptmx", Err: err}
	}
	var peer uintptr
	if err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err == nil {
		var errno unix.Errno
		peer, _, errno = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
		if errno != 0 {
			err = errno
		}
	}
	if err != nil {
		unix.Close(fd)
		return nil, nil, &os.PathError{Op: "a terminal for the tool", Path: "/dev/ptmx", Err: err}
	}
	master, slave = os.NewFile(uintptr(fd), "/dev/ptmx"), os.NewFile(peer, "tty")
	resize(master, size)
	return master, slave, nil
}

// resize sets a terminal's size; the kernel tells its foreground (SIGWINCH).
func resize(master *os.File, size frame.WindowOf) {
	onDescriptor(master, func(fd int) {
		unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: size.Rows, Col: size.Cols})
	})
}

// suspend gives where in input the character stands that stops the tool: its
// terminal acts on that character, and the tool itself is in the foreground.
// What it has put there itself, a shell's job, the terminal can stop alone.
func (p *process) suspend(input []byte) (at int, is bool) {
	var t *unix.Termios
	foreground := 0
	onDescriptor(p.in, func(fd int) {
		t, _ = unix.IoctlGetTermios(fd, unix.TCGETS)
		foreground, _ = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	})
	if t == nil || t.Lflag&unix.ISIG == 0 || t.Cc[unix.VSUSP] == 0 || foreground != p.pid {
		return 0, false
	}
	at = bytes.IndexByte(input, t.Cc[unix.VSUSP])
	return at, at >= 0
}

// onDescriptor does something with a file's descriptor that leaves it as it is.
func onDescriptor(f *os.File, do func(fd int)) {
	if c, err := f.SyscallConn(); err == nil {
		c.Control(func(fd uintptr) { do(int(fd)) })
	}
}
