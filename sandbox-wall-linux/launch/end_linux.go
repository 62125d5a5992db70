package launch

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// wait waits for bubblewrap's end. Shielded, that is the end of all.
func (b *sandbox) wait() syscall.WaitStatus {
	first := -1
	if !b.shielded {
		// Then the sandbox's first process can outlive bubblewrap by a moment,
		// or by more, when that was killed before the two were tied.
		first = openFirst(b.first(), b.pid)
	}
	ws := b.reap()
	b.says = b.said()
	if !b.shielded {
		if first < 0 {
			// bubblewrap was killed early; its child's parent is another now.
			first = openFirst(readChild(b.says), 0)
		}
		endAndAwait(first)
	}
	if !b.running {
		unix.Close(b.filter)
	}
	return ws
}

// reap waits for the end of the process that was started, and reaps it.
func (b *sandbox) reap() (ws syscall.WaitStatus) {
	for {
		// Seen first and reaped later, so that the number is never signalled
		// when it may be somebody else's.
		err := unix.Waitid(unix.P_PID, b.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			break
		}
	}
	b.mu.Lock()
	b.reaped = true
	b.mu.Unlock()
	for {
		_, err := syscall.Wait4(b.pid, &ws, 0, nil)
		if err != syscall.EINTR {
			return ws
		}
	}
}

// openFirst opens a process, if it is the first of a pid namespace below ours
// and, unless that is 0, the child of parent.
func openFirst(pid, parent int) int {
	if pid == 0 {
		return -1
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return -1
	}
	p, err := statusOf(pid)
	if err != nil || p.inner != 1 || p.depth < 2 || parent != 0 && p.parent != parent {
		unix.Close(fd)
		return -1
	}
	return fd
}

// endAndAwait kills a process, and with it its pid namespace, and waits until
// the kernel is done with it: the end of a pid namespace's first process comes
// after that of all others in it.
func endAndAwait(pidfd int) {
	if pidfd < 0 {
		return
	}
	defer unix.Close(pidfd)
	_ = unix.PidfdSendSignal(pidfd, unix.SIGKILL, nil, 0)
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, int(graceTime.Milliseconds()))
		if err != unix.EINTR {
			return
		}
	}
}

// verdict is the status, from how bubblewrap ended and what it said.
func (b *sandbox) verdict(ws syscall.WaitStatus, failed *Error) (int, error) {
	executed := readExecuted(b.says)
	reached := b.filterRead()
	b.mu.Lock()
	defer b.mu.Unlock()
	status := ws.ExitStatus()
	if ws.Signaled() {
		status = 128 + int(ws.Signal())
	}
	if failed == nil {
		failed = readFailed(b.says)
	}
	switch {
	case b.lost != nil:
		return 128 + int(unix.SIGKILL), &Error{128 + int(unix.SIGKILL), "the sandbox was ended", b.lost}
	case executed:
		return status, nil
	case failed != nil:
		return failed.Status, failed
	case b.aborted != 0:
		return 128 + int(b.aborted), nil
	case reached && status > 128:
		return status, nil // ended by a signal before it was executed, or with all the sandbox
	case reached:
		return StatusCannot, &Error{StatusCannot, b.spec.Argv[0], errors.New("cannot be executed, for the reason bubblewrap gives above")}
	case ws.Signaled():
		return StatusSetup, setupError("the sandbox could not be set up", fmt.Errorf("bubblewrap was ended by %v", ws.Signal()))
	}
	return StatusSetup, setupError("the sandbox could not be set up", b.unforeseen())
}

// filterRead says whether bubblewrap came so far as to read the filter, which
// is behind all mounts.
func (b *sandbox) filterRead() bool {
	defer unix.Close(b.unread)
	left, err := unix.IoctlGetInt(b.unread, unix.TIOCINQ) // FIONREAD's other name
	return b.running && err == nil && left == 0
}

// maxStatus bounds what bubblewrap says of itself: two lines.
const maxStatus = 4096

// said reads bubblewrap's status, whose writers are gone.
func (b *sandbox) said() string {
	defer unix.Close(b.status)
	text := make([]byte, 0, maxStatus)
	for len(text) < maxStatus {
		n, err := unix.Read(b.status, text[len(text):maxStatus])
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			break
		}
		text = text[:len(text)+n]
	}
	return string(text)
}
