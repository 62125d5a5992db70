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
	screen    int // a descriptor of the terminal that the program has, or -1
	modes     *unix.Termios
	exclusive bool
	flags     [3]int          // of the standard streams, or -1
	nodes     [3]*unix.Stat_t // what they are, where that is no file
}

// Flags of an open file that the program shares with its caller: O_DIRECT has a
// pipe drop what a short read leaves of each write (pipe(2)).
const sharedFlags = unix.O_NONBLOCK | unix.O_ASYNC | unix.O_APPEND | unix.O_DIRECT | unix.O_NOATIME

// Keep takes down what the terminal is like, the controlling one where the program
// will share it, else that of its streams, and how the standard streams are open.
func Keep(shared bool) *Kept {
	k := &Kept{tty: openTerminal(shared)}
	k.screen = k.tty.fd
	for fd := range k.flags {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if k.flags[fd] = flags; err != nil {
			k.flags[fd] = -1
		}
		if k.nodes[fd] = nodeOf(fd); k.screen < 0 && k.nodes[fd] != nil && isTerminal(fd) {
			k.screen = fd
		}
	}
	if k.screen >= 0 {
		if modes, err := unix.IoctlGetTermios(k.screen, unix.TCGETS); err == nil {
			k.modes = modes
		}
		k.exclusive = k.exclusiveNow()
	}
	return k
}

// nodeOf is what a stream is that the program may have itself: files stay outside.
func nodeOf(fd int) *unix.Stat_t {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFCHR && st.Mode&unix.S_IFMT != unix.S_IFIFO {
		return nil
	}
	return &st
}

// restoreNode gives a stream the mode and the owner that it had.
func (k *Kept) restoreNode(fd int) {
	was, is := k.nodes[fd], nodeOf(fd)
	if was == nil || is == nil || was.Dev != is.Dev || was.Ino != is.Ino {
		return
	}
	if was.Uid != is.Uid || was.Gid != is.Gid {
		_ = unix.Fchown(fd, int(was.Uid), int(was.Gid))
	}
	if was.Mode != is.Mode {
		_ = unix.Fchmod(fd, was.Mode&0o7777)
	}
}

func (k *Kept) exclusiveNow() bool {
	on, err := unix.IoctlGetInt(k.screen, unix.TIOCGEXCL)
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
		k.restoreNode(fd)
		now, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err == nil && now&sharedFlags != flags&sharedFlags {
			_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFL, now&^sharedFlags|flags&sharedFlags)
		}
	}
	if k.screen < 0 {
		return
	}
	defer k.tty.close()
	if k.exclusiveNow() && !k.exclusive {
		_ = unix.IoctlSetInt(k.screen, unix.TIOCNXCL, 0)
	}
	k.tty.takeBack()
	signal.Ignore(unix.SIGTTOU)
	defer signal.Reset(unix.SIGTTOU)
	// What was held back by tcflow(3), for which there is no key: whoever writes to
	// the terminal would wait. What a key holds back (Ctrl-S) stays so.
	_ = unix.IoctlSetInt(k.screen, unix.TCXONC, unix.TCOON)
	if status == 0 || k.modes == nil || behind(k.screen) {
		return // behind another job its modes are that one's
	}
	// Not TCSETSW: output that nobody takes would be waited for.
	_ = unix.IoctlSetTermios(k.screen, unix.TCSETS, k.modes)
}

// behind is whether another process group than ours is a terminal's foreground.
// One that is not our controlling terminal has none for us.
func behind(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && group != unix.Getpgrp()
}
