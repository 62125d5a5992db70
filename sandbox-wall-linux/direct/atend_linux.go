package direct

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An AtEnd is a process that does nothing until the one that made it has ended,
// however it did, and then becomes a program: what has to be done by somebody
// when it was killed. It leads a session of its own, and is in no namespace but
// the caller's.
type AtEnd struct {
	pid     int
	pidfd   int         // of the process (pidfd_open(2))
	process *os.Process // the same before Linux 5.3; nil is none
	region  *region
	waiting *waiting
	hold    *os.File
}

// A waiting is what the process needs. See image.
type waiting struct {
	early, after []linkedCall
	exec         linkedExec
	image        image // whose mask and registers are used
	hold         uintptr
	also         uintptr // stays open too, behind it; ^0 is none
	maker        uintptr // ends with that process, and does after over and over, once early is done; 0 does not
	byte         uintptr
}

// newWaiting gives what such a process needs in a region, and its stack there.
func newWaiting() (r *region, w *waiting, stack uintptr, err error) {
	if r, err = newRegion(commandSize); err != nil {
		return nil, nil, 0, err
	}
	one, err := taken[waiting](r, 1)
	if err == nil {
		stack, err = stackIn(r)
	}
	if err != nil {
		r.close()
		return nil, nil, 0, err
	}
	one[0].also = ^uintptr(0)
	return r, &one[0], stack, nil
}

// start makes the process, with more flags of clone(2).
func (w *waiting) start(stack, more uintptr) (pid int, err error) {
	flags := uintptr(unix.SIGCHLD) | more
	if !apart {
		flags |= unix.CLONE_VM
	}
	pid, errno := cloned(asWaiting, flags, stack, uintptr(unsafe.Pointer(w)), &w.image.mask)
	if errno != 0 {
		return 0, errno
	}
	return pid, nil
}

// BeginAtEnd makes one. Until it is told what to become it becomes nothing, and
// ends.
func BeginAtEnd() (*AtEnd, error) {
	if err := nullDevice(); err != nil {
		return nil, err
	}
	r, w, stack, err := newWaiting()
	fail := func(err error) (*AtEnd, error) {
		if r != nil {
			r.close()
		}
		return nil, fmt.Errorf("a process that waits for the end: %w", err)
	}
	if err != nil {
		return fail(err)
	}
	s := &script{}
	s.about("a session")
	s.do(none, unix.SYS_SETSID)
	s.do(none, unix.SYS_CHDIR, s.text("/"))
	s.do(none, unix.SYS_PRCTL, n(unix.PR_SET_NAME), s.text("lnk at end"))
	for range 3 { // the lowest that are free, which are the streams
		s.do(none, unix.SYS_OPENAT, here, s.text(os.DevNull), n(unix.O_RDWR))
	}
	early, err := s.link(r, 0)
	if err != nil {
		return fail(err)
	}
	w.early = early.calls
	var hold [2]int
	if err := unix.Pipe2(hold[:], unix.O_CLOEXEC); err != nil {
		return fail(err)
	}
	w.hold = uintptr(hold[0])
	pid, err := w.start(stack, 0)
	unix.Close(hold[0])
	if err != nil {
		unix.Close(hold[1])
		return fail(err)
	}
	// Package os first starts a process to see whether it may go by descriptors of
	// them (os/pidfd_linux.go), which costs more than all that is done here.
	a := &AtEnd{pid: pid, region: r, waiting: w, hold: os.NewFile(uintptr(hold[1]), "held until the end")}
	if a.pidfd, err = unix.PidfdOpen(pid, 0); err == nil {
		return a, nil
	}
	if a.process, err = os.FindProcess(pid); err != nil {
		return fail(err) // never on Linux
	}
	return a, nil
}

// nullDevice says why the streams of a process cannot be /dev/null (null(4)).
// Some machines have a file there, or one that only root may write.
func nullDevice() error {
	var st unix.Stat_t
	err := unix.Stat(os.DevNull, &st)
	if err == nil {
		err = unix.Access(os.DevNull, unix.R_OK|unix.W_OK)
	}
	if err == nil && (st.Mode&unix.S_IFMT != unix.S_IFCHR || st.Rdev != unix.Mkdev(1, 3)) {
		err = errors.New("is not the null device")
	}
	if err != nil {
		return fmt.Errorf("%s: %w: this makes it: mknod -m 666 %s c 1 3", os.DevNull, err, os.DevNull)
	}
	return nil
}

// Become says what it becomes: argv[0], a path, with no environment and nothing
// open but /dev/null. The last call holds.
func (a *AtEnd) Become(argv []string) error {
	s := &script{}
	s.about("what is done at the end")
	s.byDefault()
	s.do(none, unix.SYS_RT_SIGPROCMASK, n(unix.SIG_SETMASK), n(uintptr(unsafe.Pointer(&a.waiting.image.mask))), n(0), n(sigsetSize))
	var texts []arg
	for _, word := range argv {
		texts = append(texts, s.text(word))
	}
	words, env := s.pointers(texts), s.pointers(nil)
	l, err := s.link(a.region, 0)
	if err != nil {
		return err
	}
	a.waiting.exec = linkedExec{}
	a.waiting.after = l.calls
	a.waiting.exec = linkedExec{l.address(texts[0]), l.address(words), l.address(env)}
	return nil
}

// Wait waits for its end, and reaps it.
func (a *AtEnd) Wait() {
	if a.process != nil {
		_, _ = a.process.Wait()
		return
	}
	for unix.Waitid(unix.P_PID, a.pid, nil, unix.WEXITED, nil) == unix.EINTR {
	}
}

// Kill ends it, which is not reaped yet: there is nothing to be done any more.
func (a *AtEnd) Kill() {
	if a.process != nil {
		_ = a.process.Kill()
		return
	}
	_ = unix.PidfdSendSignal(a.pidfd, unix.SIGKILL, nil, 0)
}

// Close frees what it had, once it was waited for.
func (a *AtEnd) Close() {
	if a.process == nil {
		unix.Close(a.pidfd)
	}
	a.hold.Close()
	a.region.close()
}

// wait is that process.
//
//go:nosplit
//go:norace
//go:nocheckptr
//go:noinline
func wait(w *waiting) {
	// It holds up nobody who waits for the end of what the caller has open.
	hold := moved(w.hold, 3)
	syscall.RawSyscall6(unix.SYS_CLOSE_RANGE, 0, hold-1, 0, 0, 0, 0)
	rest := hold + 1
	if w.also != ^uintptr(0) {
		rest = moved(w.also, rest) + 1
	}
	syscall.RawSyscall6(unix.SYS_CLOSE_RANGE, rest, ^uintptr(0)>>32, 0, 0, 0, 0)
	w.image.report = ^uintptr(0)
	if w.maker != 0 {
		syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0, 0)
		// Killed before that was said, nobody would end it.
		if parent, _, _ := syscall.RawSyscall6(unix.SYS_GETPPID, 0, 0, 0, 0, 0, 0); parent != w.maker {
			exit(1)
		}
	}
	if !follow(&w.image, w.early) {
		exit(1)
	}
	for w.maker != 0 {
		follow(&w.image, w.after)
	}
	for {
		got, _, errno := syscall.RawSyscall6(unix.SYS_READ, hold, uintptr(unsafe.Pointer(&w.byte)), 1, 0, 0, 0)
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 || got != 0 {
			exit(1)
		}
		break
	}
	if w.exec.path == 0 || !follow(&w.image, w.after) {
		exit(1)
	}
	syscall.RawSyscall6(unix.SYS_EXECVE, w.exec.path, w.exec.argv, w.exec.env, 0, 0, 0)
	exit(1)
}
