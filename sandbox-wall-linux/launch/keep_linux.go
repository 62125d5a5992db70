package launch

import (
	"os/signal"

	"golang.org/x/sys/unix"
)

// A Kept is what a terminal, and what the standard streams are open on, was
// like before a program had them. The program shares both with its caller, and
// one that is killed sets nothing back.
type Kept struct {
	tty       terminal
	modes     *unix.Termios
	exclusive bool
	flags     [3]int // of the standard streams, or -1
}

// Flags of an open file that the program shares with its caller.
const sharedFlags = unix.O_NONBLOCK | unix.O_ASYNC

// Keep takes down what the controlling terminal is like, where the program will
// share it, and how the standard streams are open.
func Keep(shared bool) *Kept {
	k := &Kept{tty: openTerminal(shared)}
	for fd := range k.flags {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if k.flags[fd] = flags; err != nil {
			k.flags[fd] = -1
		}
	}
	if k.tty.fd >= 0 {
		if modes, err := unix.IoctlGetTermios(k.tty.fd, unix.TCGETS); err == nil {
			k.modes = modes
		}
		k.exclusive = k.exclusiveNow()
	}
	return k
}

func (k *Kept) exclusiveNow() bool {
	on, err := unix.IoctlGetInt(k.tty.fd, unix.TIOCGEXCL)
	return err == nil && on != 0
}

// Restore gives the terminal back, once nothing is left of the sandbox. Its
// modes (stty(1)) are set back unless the program ended well, when they may be
// what it was run for; that nobody else may open it, and that reading does not
// wait, is undone always.
func (k *Kept) Restore(status int) {
	for fd, flags := range k.flags {
		if flags < 0 {
			continue
		}
		now, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err == nil && now&sharedFlags != flags&sharedFlags {
			_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFL, now&^sharedFlags|flags&sharedFlags)
		}
	}
	if k.tty.fd < 0 {
		return
	}
	defer k.tty.close()
	if k.exclusiveNow() && !k.exclusive {
		_ = unix.IoctlSetInt(k.tty.fd, unix.TIOCNXCL, 0)
	}
	k.tty.takeBack()
	if status == 0 || k.modes == nil || !k.tty.ours() {
		return // behind another job its modes are that one's
	}
	signal.Ignore(unix.SIGTTOU)
	defer signal.Reset(unix.SIGTTOU)
	// Not TCSETSW: output that nobody takes would be waited for.
	_ = unix.IoctlSetTermios(k.tty.fd, unix.TCSETS, k.modes)
}
