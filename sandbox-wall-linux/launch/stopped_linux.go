package launch

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/selfpipe"
)

// noticeEvery is how often the program on a terminal is looked at.
const noticeEvery = 100 * time.Millisecond

// notice sees that the program stopped without our having been told: by
// kill(0, SIGTSTP), as vim does at Ctrl-Z, which does not reach us outside its
// pid namespace and Landlock's scope; or a shell by its suspend command. The
// shell that started us waits for us to stop, and so does the person. Where no
// shell did, as on a terminal that was opened for us alone, nobody waits, and nobody
// would let us go on: stopped, we would not hear what shall end us either.
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
	if r.giveTerminal(is) {
		return
	}
	if selfpipe.Orphaned() {
		return
	}
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

// giveTerminal makes the group that the program made itself the foreground, where
// that is ours: it stopped for want of it. A shell that is told in a script to look
// after jobs (set -m) asks for the terminal from behind, having seen that nobody is
// in front of it: our group has no number where it is. It is given it once.
func (r *relay) giveTerminal(is process) bool {
	if r.gave || is.group == 0 || is.group == unix.Getpgrp() || !r.tty.ours() {
		return false
	}
	r.gave = true
	r.tty.become(is.group)
	if r.tty.ours() {
		return false // it is in another session
	}
	_ = unix.Kill(-is.group, unix.SIGCONT)
	return true
}

// stopBehind stops us behind another job of the terminal, as the kernel would have.
func (r *relay) stopBehind() {
	if r.sandbox.spec.Terminal {
		r.stopWithProgram() // who has got it as we have
		return
	}
	r.stopUs(func() bool { return true })
}

// stopUs stops us, while still says that there is a reason. When we go on so does
// the program, which was seen stopped for this and not for another reason.
//
// What the program left in other process groups is not stopped: meanwhile there is
// somebody else who watches its mounts, by whom we go on to look at them.
func (r *relay) stopUs(still func() bool) {
	for {
		g, err := r.sandbox.beginGuard()
		if err != nil {
			r.send(unix.SIGCONT)
			break
		}
		stopped := selfpipe.Suspend(still)
		if !g.end(r.sandbox) || !stopped {
			break
		}
	}
	r.seenStopped = false
}

// become makes a process group the terminal's foreground.
func (t terminal) become(group int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// What one gets for it from behind.
	block, was := unix.Sigset_t{}, unix.Sigset_t{}
	block.Val[0] = 1 << (unix.SIGTTOU - 1)
	if unix.PthreadSigmask(unix.SIG_BLOCK, &block, &was) != nil {
		return
	}
	_ = unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, group)
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &was, nil)
}
