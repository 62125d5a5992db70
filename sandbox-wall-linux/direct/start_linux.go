package direct

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
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

	early    Early
	uid, gid int
	region   *region
	image    *image
	// records come from it; orders go to it.
	records, orders int
	// whats are what records can be about; of these so many fail for what the
	// machine lets nobody do.
	whats    []string
	machines int
}

// Begin makes the namespaces of a sandbox, and its first process in them, which
// waits for [First.Build] to say what there is to see. It is a child of the
// calling thread and ends with it: the caller holds it with
// runtime.LockOSThread.
//
// [ErrUnavailable] is that the machine lets us make no such namespaces.
func Begin(e Early) (*First, error) {
	f := &First{early: e, uid: os.Geteuid(), gid: os.Getegid()}
	var err error
	if f.region, err = newRegion(programSize); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err) // where memory is not to be had before it is used
	}
	begun := false
	defer func() {
		if !begun {
			f.region.close()
		}
	}()
	m, err := taken[image](f.region, 1)
	if err != nil {
		return nil, err
	}
	f.image = &m[0]
	stack, err := stackIn(f.region)
	if err == nil {
		f.image.programStack, err = stackIn(f.region)
	}
	if err != nil {
		return nil, err
	}
	var report [2]int
	if err := unix.Pipe2(report[:], unix.O_CLOEXEC); err != nil {
		return nil, fmt.Errorf("pipe: %w", err)
	}
	orders, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		unix.Close(report[0])
		unix.Close(report[1])
		return nil, fmt.Errorf("socketpair: %w", err)
	}
	script := compileEarly(&e, f.uid, f.gid, report[1], orders[0])
	f.whats, f.machines = script.whats, len(script.whats)
	early, err := script.link(f.region, 0)
	if err != nil {
		for _, fd := range append(report[:], orders[:]...) {
			unix.Close(fd)
		}
		return nil, err
	}
	i := f.image
	i.early = early.calls
	i.programFlags = unix.CLONE_NEWUSER | uintptr(unix.SIGCHLD)
	if !e.Apart && !apart {
		// It is another program's at once, and until then this one waits.
		i.programFlags |= unix.CLONE_VM | unix.CLONE_VFORK
	}
	i.report, i.orders, i.keep = uintptr(report[1]), uintptr(orders[0]), ^uintptr(0)
	i.vector.Base = (*byte)(unsafe.Pointer(&i.byte))
	i.vector.SetLen(1)
	i.message.Iov, i.message.Iovlen = &i.vector, 1
	i.message.Control = (*byte)(unsafe.Pointer(&i.control))
	flags := cloneFlags(e)
	pid, errno := cloned(asFirst, flags, stack, uintptr(unsafe.Pointer(i)), &i.mask)
	unix.Close(report[1])
	unix.Close(orders[0])
	if errno != 0 {
		unix.Close(report[0])
		unix.Close(orders[1])
		if passing(errno) {
			return nil, fmt.Errorf("clone: %w", errno)
		}
		return nil, fmt.Errorf("%w: clone: %w", ErrUnavailable, errno)
	}
	f.PID, f.records, f.orders, begun = pid, report[0], orders[1], true
	return f, nil
}

func cloneFlags(e Early) uintptr {
	flags := uintptr(unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP)
	flags |= uintptr(unix.SIGCHLD)
	if !e.Apart && !apart {
		flags |= unix.CLONE_VM
	}
	if e.OwnNet {
		flags |= unix.CLONE_NEWNET
	}
	return flags
}

// Build says what there is to see, and which program to start. It is called
// once; [First.Ready] waits for the view, [First.Go] lets the program start.
func (f *First) Build(sb *Sandbox) error {
	build, err := compile(sb)
	if err != nil {
		return err
	}
	i := f.image
	prog, err := compileProgram(&f.early, sb, f.uid, f.gid, uintptr(unsafe.Pointer(&i.mask)))
	if err != nil {
		return err
	}
	built, err := build.link(f.region, len(f.whats))
	if err != nil {
		return err
	}
	f.whats = append(f.whats, build.whats...)
	restrict, err := prog.restrict.link(f.region, len(f.whats))
	if err != nil {
		return err
	}
	f.whats = append(f.whats, prog.restrict.whats...)
	files, err := taken[uintptr](f.region, len(prog.files))
	if err != nil {
		return err
	}
	for at, file := range prog.files {
		files[at] = restrict.address(file)
	}
	i.build, i.restrict, i.files = built.calls, restrict.calls, files
	i.argv, i.env = restrict.address(prog.argv), restrict.address(prog.env)
	i.shell, i.shellArgv, i.script = restrict.address(prog.shell), restrict.address(prog.shellArgv), restrict.address(prog.script)
	handed, err := trees(sb)
	if err != nil {
		return err
	}
	defer closeAll(handed[:len(handed):len(handed)])
	i.trees, i.keeps = uintptr(len(handed)), sb.Keep != nil
	if sb.Keep != nil {
		handed = append(handed, int(sb.Keep.Fd()))
	}
	var rights []byte
	if len(handed) > 0 {
		rights = unix.UnixRights(handed...)
	}
	err = f.order(rights)
	runtime.KeepAlive(sb.Keep)
	return err
}

// order has the first process go on. One that is not there any more has told
// why, or was ended.
func (f *First) order(rights []byte) error {
	for {
		err := unix.Sendmsg(f.orders, []byte{1}, rights, nil, unix.MSG_NOSIGNAL)
		switch err {
		case unix.EINTR:
			continue
		case nil, unix.EPIPE, unix.ECONNRESET:
			return nil
		}
		return fmt.Errorf("its first process: %w", err)
	}
}

// A failure is what the first process could not do, before the program was
// there.
type failure struct {
	// What it was about.
	What string
	Err  error
}

func (f *failure) Error() string { return f.What + ": " + f.Err.Error() }
func (f *failure) Unwrap() error { return f.Err }

// Told is what the first process says of the program.
type Told struct {
	// NoExec is why it could not be executed.
	NoExec error
	// Ended is whether it has, and Status how.
	Ended  bool
	Status syscall.WaitStatus
}

// Ready waits for the view: nil is that it is whole.
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
	failed := &failure{What: "the program's process", Err: errno}
	if r.what < uint64(len(f.whats)) {
		failed.What = f.whats[r.what]
	}
	switch name, device := strings.CutPrefix(failed.What, "dev "); {
	case device && errno == unix.ENOENT && harmless[name] != "":
		failed.What = "/dev/" + name
		failed.Err = fmt.Errorf("%w: this makes it: mknod -m 666 /dev/%s c %s", errno, name, harmless[name])
	case r.what < uint64(f.machines) && !passing(errno):
		failed.Err = fmt.Errorf("%w: %w", ErrUnavailable, errno)
	case errno == unix.ENOENT, errno == unix.ENOTDIR, errno == unix.ELOOP, errno == unix.ESTALE,
		errno == unix.EXDEV: // moved out of the root while it was opened (complete_walk in fs/namei.c)
		failed.Err = fmt.Errorf("%w: %w", linuxwall.ErrChanged, errno)
	}
	return failed
}

// passing is whether an error says that there is not enough of something at the
// moment, and not that there is none for us: nobody else is asked then.
func passing(errno syscall.Errno) bool {
	switch errno {
	case unix.EAGAIN, unix.ENOMEM, unix.EMFILE, unix.ENFILE, unix.ENOBUFS:
		return true
	}
	return false
}

// Go lets the program start.
func (f *First) Go() error { return f.order(nil) }

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
	unix.Close(f.orders)
}

// Free gives back what the first process used, once it was waited for.
func (f *First) Free() { f.region.close() }
