package direct

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The memory of a process is not copied for one that it clones here: copying it,
// and then each page that is written on either side, costs more than all else
// that a start does. The two share it, as after vfork(2), but go on side by
// side, since the clone has a stack of its own, in a region. It is where what
// it needs is as well: of the rest it reads its code.

// Each clones the calling thread; the child runs first, become or wait, with m,
// and never returns. The result is a number of a process, or an error's,
// negative.
//
//go:noescape
func cloneFirst(flags, stack, m uintptr) (pid uintptr)

//go:noescape
func cloneProgram(flags, stack, m uintptr) (pid uintptr)

//go:noescape
func cloneWaiting(flags, stack, m uintptr) (pid uintptr)

// The bodies, which only the assembly calls.
var _, _, _ = first, become, wait

// stackSize is far more than functions use that may not grow one: 800 bytes and
// what the kernel puts there for a signal.
const stackSize = 32 << 10

// stackIn gives the top of a stack in a region.
func stackIn(r *region) (uintptr, error) {
	at, err := r.take(stackSize)
	if err != nil {
		return 0, err
	}
	return (uintptr(at) + stackSize) &^ 15, nil
}

// A body is what a clone does.
type body uint8

const (
	asFirst   body = iota // first
	asWaiting             // wait
)

// cloned clones with every signal blocked in both, so that no handler of Go's
// runs in the child: it never takes them off again before it executes something,
// which gets the mask that was.
//
//go:norace
func cloned(of body, flags, stack, m uintptr, mask *uintptr) (int, syscall.Errno) {
	// Nobody opens a descriptor meanwhile that is not close-on-exec yet.
	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pid := blocked(of, flags, stack, m, mask)
	if errno := failedWith(pid); errno != 0 {
		return 0, errno
	}
	return int(pid), 0
}

// blocked is the part with the signals blocked. Go may not have this thread
// stand still in it, as it may wherever a function that can grow its stack is
// called: syscall.AllThreadsSyscall stops all threads and then waits for each
// to take a signal, which one that stood still here never would.
//
//go:nosplit
//go:norace
func blocked(of body, flags, stack, m uintptr, mask *uintptr) (pid uintptr) {
	setMask(&everySignal, mask)
	if of == asFirst {
		pid = cloneFirst(flags, stack, m)
	} else {
		pid = cloneWaiting(flags, stack, m)
	}
	setMask(mask, nil)
	return pid
}

var everySignal = ^uintptr(0) // of which there are 64

// setMask is a function of its own for its stack's sake, of which those that may
// not grow one have little together.
//
//go:noinline
//go:nosplit
//go:norace
func setMask(to, was *uintptr) {
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(was)), sigsetSize, 0, 0)
}

// failedWith is the error that a system call's result is, or 0.
//
//go:nosplit
//go:norace
func failedWith(result uintptr) syscall.Errno {
	if result > ^uintptr(4095) {
		return syscall.Errno(-result)
	}
	return 0
}
