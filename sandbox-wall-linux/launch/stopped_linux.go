package launch

import (
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// noticeEvery is how often the program on a terminal is looked at.
const noticeEvery = 100 * time.Millisecond

// notice sees that the program stopped without our having been told: by
// kill(0, SIGTSTP), as vim does at Ctrl-Z, which does not reach us outside its
// pid namespace and Landlock's scope; or a shell by its suspend command. The
// shell that started us waits for us to stop, and so does the person.
func (r *relay) notice() {
	pidfd, is, err := r.sandbox.program()
	if err != nil {
		return
	}
	unix.Close(pidfd)
	if !is.stopped() {
		r.seenStopped = false
		return
	}
	if !r.seenStopped {
		r.seenStopped = true // it may be Ctrl-Z, of which we are about to hear
		return
	}
	r.seenStopped = false
	if !r.tty.ours() {
		// Only from what is the program's own: behind a job of the shell's the
		// terminal is none of ours.
		group, err := unix.IoctlGetInt(r.tty.fd, unix.TIOCGPGRP)
		if err != nil || is.group == 0 || group != is.group {
			return
		}
		r.inner = group
		r.tty.become(unix.Getpgrp())
	}
	// All of the job, as the terminal does it: who started us, and we.
	_ = unix.Kill(0, unix.SIGTSTP)
}

// become makes a process group the terminal's foreground.
func (t terminal) become(group int) {
	signal.Ignore(unix.SIGTTOU) // which is what one gets for it from behind
	defer signal.Reset(unix.SIGTTOU)
	_ = unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, group)
}
