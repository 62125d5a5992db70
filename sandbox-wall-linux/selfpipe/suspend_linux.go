package selfpipe

import (
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/procfs"
)

// Suspend stops this process, as a job of a shell stops, and returns when it goes
// on, or at once where still says that there is no reason to stop any more. It
// says whether still did not.
//
// Whoever lets a job go on may do so between the moment when the reason was seen
// and the stop: a SIGCONT that comes too early would be followed by a stop that
// nobody ends. So the stop is made to wait at this thread before still is asked.
// A SIGCONT from then on takes it away (signal(7), "pending stop signals are
// discarded"), and of one before still must know: what it asks after has been let
// go on by then, since the kernel signals the members of a group that came last
// first.
func Suspend(still func() bool) bool {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	stop := func(s unix.Signal) { _ = unix.Tgkill(unix.Getpid(), unix.Gettid(), s) }
	if Orphaned() {
		// For which SIGTSTP does nothing (setpgid(2)). No shell is there that
		// could let it go on too early.
		if !still() {
			return false
		}
		stop(unix.SIGSTOP)
		return true
	}
	block, was := unix.Sigset_t{}, unix.Sigset_t{}
	block.Val[0] = 1 << (unix.SIGTSTP - 1)
	if unix.PthreadSigmask(unix.SIG_BLOCK, &block, &was) != nil {
		return false
	}
	before := set(unix.SIGTSTP, action{handler: byDefault})
	stop(unix.SIGTSTP)
	reason := still()
	if !reason {
		set(unix.SIGTSTP, action{handler: ignored}) // which discards it (sigaction(2))
	}
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &was, nil)
	set(unix.SIGTSTP, before)
	return reason
}

// Orphaned is whether no shell looks after this process as a job, as orphaned has
// it: stopped, it would be let go on by nobody.
func Orphaned() bool { return orphaned(unix.Getpid()) }

// orphaned is whether no shell of the session looks after the process group of a
// process, as far as its own ancestors show: none of them is in another group of
// the same session.
func orphaned(pid int) bool {
	group, err := unix.Getpgid(pid)
	if err != nil {
		return true
	}
	session, err := unix.Getsid(pid)
	if err != nil {
		return true
	}
	for {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return true
		}
		// State, parent, group, session.
		fields := procfs.Stat(string(text))
		if len(fields) < 4 {
			return true
		}
		if fields[3] != strconv.Itoa(session) {
			return true
		}
		if fields[2] != strconv.Itoa(group) {
			return false
		}
		if pid, err = strconv.Atoi(fields[1]); err != nil || pid == 0 {
			return true
		}
	}
}
