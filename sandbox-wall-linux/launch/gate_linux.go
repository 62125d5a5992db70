package launch

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// readyPatience bounds the wait for all mounts. Past it the program is started
// without having been looked for.
const readyPatience = 5 * time.Second

// gate waits until bubblewrap has made the sandbox, looks for the program in
// it, and lets it start by writing the filter, which bubblewrap reads last of
// all. It returns why it did not; bubblewrap then goes on waiting until it is
// ended, and has nothing to say.
func (b *sandbox) gate() *Error {
	defer unix.Close(b.ready)
	made := b.awaitReady()
	return b.passes(made, func() error {
		// The pipe is empty and holds it all, and has a reader, which is us.
		n, err := unix.Write(b.filter, b.spec.Seccomp)
		if err != nil || n != len(b.spec.Seccomp) {
			return fmt.Errorf("filter: %d of %d bytes: %w", n, len(b.spec.Seccomp), err)
		}
		unix.Close(b.filter) // bubblewrap reads to its end
		return nil
	})
}

// passes does what there is to do before the program starts: it looks for it,
// where the sandbox is made, watches its mounts, bounds it, and lets it go. It
// returns why it did not, and then the sandbox is ended.
func (b *sandbox) passes(made bool, letGo func() error) *Error {
	if made {
		if err := b.look(); err != nil {
			b.kill()
			return err
		}
	}
	if err := b.watchMounts(); err != nil {
		b.kill()
		return setupError("the sandbox could not be set up", err)
	}
	if b.spec.Contain != nil {
		if err := b.contain(); err != nil {
			b.kill()
			return err
		}
	}
	if b.spec.Before != nil {
		if err := b.spec.Before(); err != nil {
			b.kill()
			return setupError("the sandbox could not be set up", err)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.aborted != 0 {
		return nil
	}
	if err := letGo(); err != nil {
		b.killLocked()
		return setupError("the sandbox could not be set up", err)
	}
	b.running = true
	return nil
}

// contain bounds the sandbox. One that is not there has ended, and is ended
// where it has not: what is not bounded does not start.
func (b *sandbox) contain() *Error {
	first := b.first()
	if first == 0 {
		b.kill()
		return nil
	}
	err := b.spec.Contain(first)
	if errors.Is(err, unix.ESRCH) {
		b.kill()
		return nil
	}
	if err != nil {
		return setupError("the sandbox could not be set up", err)
	}
	return nil
}

// awaitReady waits until bubblewrap has closed its end, which it does when all
// mounts are made, or until it has ended. It says whether it came to either.
func (b *sandbox) awaitReady() bool {
	fds := []unix.PollFd{{Fd: int32(b.ready), Events: unix.POLLRDHUP}}
	if !b.shielded {
		// Its child, which has the same end, could outlive it.
		if pidfd, err := unix.PidfdOpen(b.pid, 0); err == nil {
			defer unix.Close(pidfd)
			fds = append(fds, unix.PollFd{Fd: int32(pidfd), Events: unix.POLLIN})
		}
	}
	deadline := time.Now().Add(readyPatience)
	for {
		left := time.Until(deadline).Milliseconds()
		if left <= 0 {
			return false
		}
		n, err := unix.Poll(fds, int(left))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return false
		case n > 0:
			return true
		}
	}
}

// kill ends the sandbox, all of it.
func (b *sandbox) kill() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.killLocked()
}

// abort ends a sandbox whose program was not started yet, and says whether it
// was one.
func (b *sandbox) abort(s syscall.Signal) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running {
		return false
	}
	b.aborted = s
	b.killLocked()
	return true
}

func (b *sandbox) killLocked() {
	if b.pid == 0 || b.reaped {
		return
	}
	if !b.shielded {
		killChildren(b.pid)
	}
	_ = unix.Kill(b.pid, unix.SIGKILL)
}

// stillPatience bounds the wait for a process to stop that was told to.
const stillPatience = time.Second

// killChildren kills the children of a child of ours, which does not get to
// start another meanwhile.
func killChildren(pid int) {
	_ = unix.Kill(pid, unix.SIGSTOP)
	for deadline := time.Now().Add(stillPatience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if p, err := statusOf(pid); err != nil || p.stopped() || p.state == 'Z' {
			break
		}
	}
	for _, child := range children(pid) {
		fd, err := unix.PidfdOpen(child, 0)
		if err != nil {
			continue
		}
		if p, err := statusOf(child); err == nil && p.parent == pid {
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		}
		unix.Close(fd)
	}
}
