package launch

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/landlock"
	"golang.org/x/sys/unix"
)

// A sandbox is bubblewrap while it runs. It is started, and waited for, on one
// thread, which is restricted by Landlock and whose end would be its end
// (PDEATHSIG is tied to the thread).
type sandbox struct {
	spec *Spec
	// shields are the namespaces in which bubblewrap may be started, as flags
	// of clone(2), the best first.
	shields []uintptr
	// listen listens for signals again; heard is closed once it did first.
	listen func()
	heard  chan struct{}

	// shielded is whether bubblewrap is the first process of a pid namespace.
	shielded bool
	filter   int    // where the filter is written
	unread   int    // the same pipe's other end, with what bubblewrap did not read
	ready    int    // closed by the other side when all mounts are made
	status   int    // bubblewrap's --json-status-fd
	says     string // what it wrote there

	mu      sync.Mutex
	pid     int  // bubblewrap's, or 0
	reaped  bool // pid may be somebody else's
	running bool // the filter was written: from here on the program's fate is its own
	aborted syscall.Signal
}

// run is the life of the sandbox, on a thread that the caller has locked and
// will not unlock.
func (b *sandbox) run() (int, error) {
	scoped, err := landlock.Scope()
	if err != nil {
		return StatusSetup, setupError("the sandbox could not be set up", err)
	}
	if err := b.spec.refuses(scoped.Missing()); err != nil {
		return err.Status, err
	}
	if err := b.start(); err != nil {
		return err.Status, err
	}
	failed := b.gate()
	ws := b.wait()
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
	n := numbersAfter(len(s.Files), s.SyncFile != nil)
	argv, args, err := s.argv(n, false)
	if err != nil {
		return err.(*Error)
	}
	fds, err := s.standard(&theirs)
	if err != nil {
		return fail(err)
	}
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
		unix.Kill(pid, unix.SIGKILL)
	}
	b.mu.Unlock()
	return nil
}

// shieldsFor are the ways to a pid namespace: root makes one as it is, anybody
// else, and root in a container, in a user namespace.
func shieldsFor(uid int) []uintptr {
	inUser := uintptr(unix.CLONE_NEWPID | unix.CLONE_NEWUSER)
	if uid == 0 {
		return []uintptr{unix.CLONE_NEWPID, inUser}
	}
	return []uintptr{inUser}
}

// fork starts bubblewrap in a pid namespace of its own, or where that is not to
// be had without.
func (b *sandbox) fork(argv []string, fds []uintptr, n numbers) (pid int, shielded bool, err error) {
	for _, flags := range b.shields {
		pid, err = syscall.ForkExec(argv[0], argv, b.attr(fds, flags))
		switch {
		case err == nil:
			return pid, true, nil
		case !refusesNamespace(err):
			return 0, false, err
		}
	}
	if b.spec.Terminal {
		return b.forkStaged(fds, n)
	}
	pid, err = syscall.ForkExec(argv[0], argv, b.attr(fds, 0))
	return pid, false, err
}

// refusesNamespace tells what clone(2) and the files of user_namespaces(7)
// answer where a namespace is not to be had, from bubblewrap being missing.
func refusesNamespace(err error) bool {
	switch err {
	case unix.EPERM, unix.EINVAL, unix.ENOSPC, unix.EUSERS, unix.EACCES:
		return true
	}
	return false
}

// groups are signals that are sent to whole process groups, bubblewrap's among
// them: by a terminal, a shell, or the program with kill(0, …). SIGHUP is not
// one of them, so that nohup(1) can be told from us.
var groups = []os.Signal{
	unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU,
	unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM,
}

// forkStaged starts bubblewrap deaf to what is sent to its group, as the first
// process of a pid namespace is by itself. The stage inside hears it again.
func (b *sandbox) forkStaged(fds []uintptr, n numbers) (int, bool, error) {
	if len(b.spec.Stage) == 0 {
		return 0, false, setupError("a terminal cannot be kept", errors.New("this machine lets us make no pid namespace: run lnk sandbox ready"))
	}
	argv, _, err := b.spec.argv(n, true)
	if err != nil {
		return 0, false, err
	}
	<-b.heard // which would undo this
	signal.Ignore(groups...)
	pid, err := syscall.ForkExec(argv[0], argv, b.attr(fds, 0))
	signal.Reset(groups...)
	b.listen()
	return pid, false, err
}

func (b *sandbox) attr(fds []uintptr, flags uintptr) *syscall.ProcAttr {
	sys := &syscall.SysProcAttr{
		Pdeathsig:  unix.SIGKILL,
		Setpgid:    !b.spec.Terminal,
		Cloneflags: flags,
	}
	if flags&unix.CLONE_NEWUSER != 0 {
		uid, gid := os.Geteuid(), os.Getegid()
		sys.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		sys.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	}
	// Env is empty and not nil: nil would be ours.
	return &syscall.ProcAttr{Env: []string{}, Files: fds, Sys: sys}
}

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
	if made {
		if err := b.look(); err != nil {
			b.kill()
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.aborted != 0 {
		return nil
	}
	// The pipe is empty and holds it all, and has a reader, which is us.
	n, err := unix.Write(b.filter, b.spec.Seccomp)
	if err != nil || n != len(b.spec.Seccomp) {
		unix.Kill(b.pid, unix.SIGKILL)
		return setupError("the sandbox could not be set up", fmt.Errorf("filter: %d of %d bytes: %w", n, len(b.spec.Seccomp), err))
	}
	b.running = true
	unix.Close(b.filter) // bubblewrap reads to its end
	return nil
}

// awaitReady says whether bubblewrap has closed its end, which it does when all
// mounts are made, or when it ends.
func (b *sandbox) awaitReady() bool {
	deadline := time.Now().Add(readyPatience)
	for {
		left := time.Until(deadline).Milliseconds()
		if left <= 0 {
			return false
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(b.ready), Events: unix.POLLRDHUP}}, int(left))
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
	if b.pid != 0 && !b.reaped {
		unix.Kill(b.pid, unix.SIGKILL)
	}
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
	if b.pid != 0 && !b.reaped {
		unix.Kill(b.pid, unix.SIGKILL)
	}
	return true
}
