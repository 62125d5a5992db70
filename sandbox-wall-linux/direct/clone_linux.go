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

// cloned clones with every signal blocked in both, so that no handler of Go's
// runs in the child: it never takes them off again before it executes something,
// which gets the mask that was.
//
//go:norace
func cloned(mask *uintptr, clone func() uintptr) (int, syscall.Errno) {
	all := ^uint64(0)
	// Nobody opens a descriptor meanwhile that is not close-on-exec yet.
	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&all)), uintptr(unsafe.Pointer(mask)), sigsetSize, 0, 0)
	pid := clone()
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(mask)), 0, sigsetSize, 0, 0)
	if errno := failedWith(pid); errno != 0 {
		return 0, errno
	}
	return int(pid), 0
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
