package launch

import (
	"errors"
	"fmt"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/direct"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/landlock"
)

// A sandbox is a sandbox while it runs. Its first process here is started, and
// waited for, on one thread, whose end would be its end (PDEATHSIG is tied to
// the thread). Where that process is bubblewrap the thread is restricted by
// Landlock.
type sandbox struct {
	spec  *Spec
	early Early
	// shields are the namespaces in which bubblewrap may be started, as flags
	// of clone(2), the best first.
	shields []uintptr
	// listen listens for signals again.
	listen func()

	// shielded is whether bubblewrap is the first process of a pid namespace.
	shielded bool
	filter   int    // where the filter is written
	unread   int    // the same pipe's other end, with what bubblewrap did not read
	ready    int    // closed by the other side when all mounts are made
	status   int    // bubblewrap's --json-status-fd
	says     string // what it wrote there

	carried sync.WaitGroup // what is carried out to files
	carry   func()         // begins to carry
	fed     fed            // what is carried in; nil is nothing

	mu      sync.Mutex
	pid     int  // bubblewrap's, or the sandbox's first process' where there is none, or 0
	reaped  bool // pid may be somebody else's
	running bool // the filter was written: from here on the program's fate is its own
	aborted syscall.Signal
	lost    error       // why it was ended: a mount of its own is gone
	mounts  *mountWatch // nil when nobody asked
}

// run is the life of the sandbox, on a thread that the caller has locked and
// will not unlock.
func (b *sandbox) run(first *direct.First) (int, error) {
	if err := b.spec.refuses(landlock.Closable().Missing()); err != nil {
		b.giveUp(first)
		return err.Status, err
	}
	if b.spec.Direct != nil {
		return b.runDirect(first)
	}
	if !b.spec.Staged {
		if _, err := landlock.Scope(); err != nil {
			return StatusSetup, setupError("the sandbox could not be set up", err)
		}
	}
	if err := b.start(); err != nil {
		return err.Status, err
	}
	failed := b.gate()
	ws := b.wait()
	b.endMounts()
	return b.verdict(ws, failed)
}

// start starts bubblewrap, shielded if that can be.
func (b *sandbox) start() *Error {
	s := b.spec
	var theirs, ours ends
	defer theirs.close()
	fail := func(err error) *Error {
		ours.close()
		return setupError("the sandbox could not be set up", err)
	}
	n := numbersAfter(len(s.Files), s.SyncFile != nil, len(s.Orders) > 0)
	argv, args, err := s.argv(n, s.Reopens)
	if err != nil {
		return err.(*Error)
	}
	fds, carry, err := b.standard(&theirs)
	if err != nil {
		return fail(err)
	}
	carry()
	for _, f := range s.Files {
		fds = append(fds, f.Fd())
	}
	argsFD, err := memory(args)
	if err != nil {
		return fail(err)
	}
	theirs = append(theirs, argsFD)
	var filter, status [2]int
	if err := unix.Pipe2(filter[:], unix.O_CLOEXEC); err != nil {
		return fail(fmt.Errorf("pipe: %w", err))
	}
	ours = append(ours, filter[0], filter[1])
	ready, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fail(fmt.Errorf("socketpair: %w", err))
	}
	theirs, ours = append(theirs, ready[0]), append(ours, ready[1])
	if err := unix.Pipe2(status[:], unix.O_CLOEXEC); err != nil {
		return fail(fmt.Errorf("pipe: %w", err))
	}
	theirs, ours = append(theirs, status[1]), append(ours, status[0])
	// bubblewrap blocks on --block-fd for a byte that is there already: what is
	// of use is that it closes it.
	if _, err := unix.Write(ready[1], []byte{0}); err != nil {
		return fail(fmt.Errorf("socketpair: %w", err))
	}
	for _, fd := range []int{argsFD, filter[0], ready[0], status[1]} {
		fds = append(fds, uintptr(fd))
	}
	if s.SyncFile != nil {
		fds = append(fds, s.SyncFile.Fd())
	}
	if len(s.Orders) > 0 {
		orders, err := memory(s.Orders)
		if err != nil {
			return fail(err)
		}
		theirs = append(theirs, orders)
		fds = append(fds, uintptr(orders))
	}
	pid, shielded, err := b.fork(argv, fds, n)
	if err != nil {
		ours.close()
		if errors.Is(err, unix.E2BIG) {
			return &Error{StatusCannot, s.Argv[0], err}
		}
		var e *Error
		if errors.As(err, &e) {
			return e
		}
		return setupError("bubblewrap "+s.Bwrap+" cannot be started", err)
	}
	b.unread, b.filter, b.ready, b.status, b.shielded = filter[0], filter[1], ready[1], status[0], shielded
	b.mu.Lock()
	b.pid = pid
	if b.aborted != 0 {
		b.killLocked()
	}
	b.mu.Unlock()
	return nil
}
