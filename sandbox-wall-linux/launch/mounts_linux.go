package launch

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// maxMounts bounds what is read of a table of mounts: a hundred bytes a mount,
// and a namespace has a hundred thousand at most (fs.mount-max, proc(5)).
const maxMounts = 16 << 20

// heldAgain is how long a rename may stay unseen where it cannot be waited for,
// in milliseconds.
const heldAgain = 1000

// In the first moments a rename is looked for so often, in milliseconds, and not
// waited for: to be rid of an inotify(7) takes the kernel some milliseconds (it
// waits for a grace period, fsnotify_wait_marks_destroyed in fs/notify/mark.c),
// and the end of a short program would wait too.
const (
	heldFirst = 20
	heldLooks = 10
)

// A mountWatch reads the sandbox's table of mounts whenever it changes, or what
// a mount stands on is renamed.
type mountWatch struct {
	table int      // /proc/<pid>/mountinfo
	held  []string // what mounts stand on, until it is waited for

	mu       sync.Mutex // of what is below
	moves    int        // an inotify(7), or -1
	patience int        // of each wait, in milliseconds; -1 is no end

	over  [2]int
	ended chan struct{}
	text  []byte // what was read last
}

// watchMounts asks about the mounts as they are now, and from here on whenever
// they change. The table is opened before it is read, so that no change is
// missed between the two.
func (b *sandbox) watchMounts() error {
	if b.spec.Mounts == nil {
		return nil
	}
	first := b.first()
	if first == 0 {
		return nil // bubblewrap has ended, and says why
	}
	w := &mountWatch{held: b.spec.Held, moves: -1, patience: -1, ended: make(chan struct{})}
	if len(w.held) > 0 {
		w.patience = heldFirst
	}
	var err error
	if w.table, err = openMounts(first); w.table < 0 {
		return err
	}
	if err = b.lookAtMounts(w); err == nil {
		err = unix.Pipe2(w.over[:], unix.O_CLOEXEC)
	}
	if err != nil {
		w.close()
		return err
	}
	b.mu.Lock()
	b.mounts = w
	b.mu.Unlock()
	go b.followMounts(w)
	return nil
}

// openMounts opens the table of a sandbox's mounts; -1 without an error is of one
// that has ended: what is ending has no mounts (mounts_open_common in
// fs/proc_namespace.c).
func openMounts(first int) (int, error) {
	table, err := unix.Open("/proc/"+strconv.Itoa(first)+"/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	switch err {
	case nil:
		return table, nil
	case unix.ENOENT, unix.ESRCH, unix.EINVAL:
		return -1, nil
	}
	return -1, fmt.Errorf("its mounts cannot be watched: %w", err)
}

// waits gives what says that something was renamed, or -1, and how long to wait
// for it before the table is looked at all the same.
func (w *mountWatch) waits() (moves, patience int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.moves, w.patience
}

// watchMoves begins to wait for renames of what mounts stand on, and says whether
// it was not yet waited for: then the table has to be looked at once more, which
// sees what was renamed until then. A user has so many of inotify's instances and
// watches (inotify(7)): where they do not suffice, or a file may not be read, the
// table is looked at now and then.
func (w *mountWatch) watchMoves() (begun bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	held := w.held
	if w.held = nil; len(held) == 0 {
		return false
	}
	w.patience = -1
	var err error
	if w.moves, err = unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK); err != nil {
		w.moves, w.patience = -1, heldAgain
		return true
	}
	for _, path := range held {
		if _, err := unix.InotifyAddWatch(w.moves, path, unix.IN_MOVE_SELF|unix.IN_DONT_FOLLOW); err != nil {
			w.patience = heldAgain
		}
	}
	return true
}

// followMounts ends the sandbox once there is a reason to.
func (b *sandbox) followMounts(w *mountWatch) {
	defer close(w.ended)
	for looks := 0; ; looks++ {
		if looks == heldLooks {
			w.watchMoves()
		}
		moves, patience := w.waits()
		if looks == heldLooks {
			patience = 0 // for what was renamed until now
		}
		// The kernel says POLLERR and POLLPRI when a table changed
		// (proc_pid_mounts(5)).
		fds := []unix.PollFd{{Fd: int32(w.table), Events: unix.POLLPRI}, {Fd: int32(w.over[0]), Events: unix.POLLIN}, {Fd: int32(moves), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, patience); err == unix.EINTR {
			looks-- // nothing was looked at, and one look is owed
			continue
		} else if err != nil {
			b.lose(fmt.Errorf("its mounts cannot be watched: %w", err))
			return
		}
		if fds[1].Revents != 0 {
			return
		}
		if fds[2].Revents != 0 {
			var events [4096]byte // which do not say more than that there were some
			_, _ = unix.Read(moves, events[:])
		}
		if err := b.lookAtMounts(w); err != nil {
			b.lose(err)
			return
		}
	}
}

// lookAtMounts asks about the mounts as they are now.
func (b *sandbox) lookAtMounts(w *mountWatch) error {
	text, err := w.read()
	if err != nil {
		return err
	}
	return b.spec.Mounts(text)
}

// lose ends the sandbox at once: what was lost is open to the program.
func (b *sandbox) lose(why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pid == 0 || b.reaped {
		return
	}
	b.lost = why
	b.killLocked()
}

// endMounts ends the watch, which may be none.
func (b *sandbox) endMounts() {
	b.mu.Lock()
	w := b.mounts
	b.mounts = nil
	b.mu.Unlock()
	if w == nil {
		return
	}
	unix.Close(w.over[1])
	<-w.ended
	unix.Close(w.over[0])
	w.close()
}

func (w *mountWatch) close() {
	unix.Close(w.table)
	if moves, _ := w.waits(); moves >= 0 {
		unix.Close(moves)
	}
}

func (w *mountWatch) read() (string, error) {
	for w.text = w.text[:0]; ; {
		w.text = slices.Grow(w.text, 16<<10)
		n, err := unix.Pread(w.table, w.text[len(w.text):cap(w.text)], int64(len(w.text)))
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return "", fmt.Errorf("its mounts cannot be read: %w", err)
		case n == 0:
			return string(w.text), nil
		}
		if w.text = w.text[:len(w.text)+n]; len(w.text) > maxMounts {
			return "", errors.New("its table of mounts is too long")
		}
	}
}
