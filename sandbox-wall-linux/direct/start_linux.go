package direct

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
)

// A First is a sandbox's first process, as its parent has it.
type First struct {
	// PID is its number here. It is waited for by who started it, with
	// wait4(2); its end is the end of all that is in the sandbox.
	PID int
	// records come from it; goOn lets the program start.
	records, goOn int
	now, then     *script // what it goes through, before the program and after
}

// Start makes a sandbox and stops before the program: [First.Ready] waits for
// the view, [First.Go] lets the program start. The first process is a child of
// the calling thread and ends with it: the caller holds it with
// runtime.LockOSThread.
//
// [ErrUnavailable] is that the machine lets us make no such namespaces.
func Start(sb *Sandbox) (*First, error) {
	uid, gid := os.Geteuid(), os.Getegid()
	build, err := compile(sb, uid, gid)
	if err != nil {
		return nil, err
	}
	prog, err := compileProgram(sb, uid, gid)
	if err != nil {
		return nil, err
	}
	var report, goOn [2]int
	if err := unix.Pipe2(report[:], unix.O_CLOEXEC); err != nil {
		return nil, fmt.Errorf("pipe: %w", err)
	}
	if err := unix.Pipe2(goOn[:], unix.O_CLOEXEC); err != nil {
		unix.Close(report[0])
		unix.Close(report[1])
		return nil, fmt.Errorf("pipe: %w", err)
	}
	defer unix.Close(report[1])
	defer unix.Close(goOn[0])

	built, restrict := build.link(), prog.restrict.link()
	m := &image{
		build: built.calls, restrict: restrict.calls,
		report: uintptr(report[1]), goOn: uintptr(goOn[0]), keep: ^uintptr(0),
	}
	for _, e := range prog.execs {
		m.execs = append(m.execs, linkedExec{restrict.address(e.path), restrict.address(e.argv), restrict.address(e.env)})
	}
	if sb.Keep != nil {
		m.keep = sb.Keep.Fd()
	}
	pid, errno := fork(m, cloneFlags(sb), restrict.address(prog.mask), uintptr(goOn[1]))
	runtime.KeepAlive(built)
	runtime.KeepAlive(restrict)
	if errno != 0 {
		unix.Close(report[0])
		unix.Close(goOn[1])
		return nil, fmt.Errorf("%w: clone: %w", ErrUnavailable, errno)
	}
	return &First{PID: pid, records: report[0], goOn: goOn[1], now: build, then: prog.restrict}, nil
}

func cloneFlags(sb *Sandbox) uintptr {
	flags := uintptr(unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP)
	if sb.OwnNet {
		flags |= unix.CLONE_NEWNET
	}
	return flags
}

// fork forks the calling thread, with every signal blocked in both, so that no
// handler of Go's runs in the child: it never takes them off again, and the
// program gets the mask that was, which is kept at an address.
//
//go:norace
//go:nocheckptr
func fork(m *image, flags, mask, parents uintptr) (int, syscall.Errno) {
	all := [sigsetSize]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	// Nobody opens a descriptor meanwhile that is not close-on-exec yet.
	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&all)), mask, sigsetSize, 0, 0)
	pid, errno := cloned(m, flags|uintptr(unix.SIGCHLD), parents)
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, mask, 0, sigsetSize, 0, 0)
	return int(pid), errno
}

// cloned is the moment itself. The child stays in it.
//
//go:nosplit
//go:norace
//go:nocheckptr
//go:noinline
func cloned(m *image, flags, parents uintptr) (uintptr, syscall.Errno) {
	pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, flags, 0, 0, 0, 0, 0)
	if errno == 0 && pid == 0 {
		// The parent's end is the parent's alone: its end is seen here.
		syscall.RawSyscall6(unix.SYS_CLOSE, parents, 0, 0, 0, 0, 0)
		first(m)
	}
	return pid, errno
}

// A Failure is what the first process could not do, before the program was
// there.
type Failure struct {
	// What it was about.
	What string
	Err  error
}

func (f *Failure) Error() string { return f.What + ": " + f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }

// Told is what the first process says of the program.
type Told struct {
	// NoExec is why it could not be executed.
	NoExec error
	// Ended is whether it has, and Status how.
	Ended  bool
	Status syscall.WaitStatus
}

// Fd is readable when the first process has something to say, or has ended.
func (f *First) Fd() int { return f.records }

// Ready reads what the first process says of the view: nil is that it is whole,
// and waits. It may be called once [First.Fd] is readable, and blocks until
// then.
func (f *First) Ready() error {
	r, ok := f.next()
	switch {
	case !ok:
		return errors.New("its first process was ended")
	case r.kind == toldReady:
		return nil
	}
	return f.failure(r)
}

// failure says what a record is about. What is not there any more, or is
// something else, has changed since it was looked at; what the machine does not
// let us do at all is [ErrUnavailable].
func (f *First) failure(r record) error {
	errno := syscall.Errno(r.value)
	failed := &Failure{What: "the program's process", Err: errno}
	if r.what < uint64(len(f.now.whats)) {
		failed.What = f.now.whats[r.what]
	}
	switch {
	case r.what < uint64(f.now.machines):
		failed.Err = fmt.Errorf("%w: %w", ErrUnavailable, errno)
	case errno == unix.ENOENT, errno == unix.ENOTDIR, errno == unix.ELOOP, errno == unix.ESTALE:
		failed.Err = fmt.Errorf("%w: %w", linuxwall.ErrChanged, errno)
	}
	return failed
}

// Go lets the program start.
func (f *First) Go() error {
	_, err := unix.Write(f.goOn, []byte{1})
	return err
}

// Told reads the next that is said of the program; false is that there is no
// more. An error is why it was not started.
func (f *First) Told() (Told, bool, error) {
	r, ok := f.next()
	if !ok {
		return Told{}, false, nil
	}
	switch r.kind {
	case toldNoExec:
		return Told{NoExec: syscall.Errno(r.value)}, true, nil
	case toldEnded:
		return Told{Ended: true, Status: syscall.WaitStatus(r.value)}, true, nil
	}
	f.now = f.then
	return Told{}, true, f.failure(r)
}

// next reads a record.
func (f *First) next() (record, bool) {
	var b [recordSize]byte
	for got := 0; got < recordSize; {
		n, err := unix.Read(f.records, b[got:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return record{}, false
		}
		got += n
	}
	return record{
		binary.NativeEndian.Uint64(b[0:]), binary.NativeEndian.Uint64(b[8:]), binary.NativeEndian.Uint64(b[16:]),
	}, true
}

// Close gives up the parent's ends: a program that was not let go is not.
func (f *First) Close() {
	unix.Close(f.records)
	unix.Close(f.goOn)
}
