package selfpipe

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// action is struct sigaction as the kernel has it (asm/signal.h).
type action struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

// Handlers that are none, from asm-generic/signal-defs.h.
const (
	byDefault = 0
	ignored   = 1
)

// set sets what a signal does, and gives what it did.
func set(s syscall.Signal, to action) (before action) {
	// It fails for signals alone that cannot be caught.
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&to)), uintptr(unsafe.Pointer(&before)), unsafe.Sizeof(to.mask), 0, 0)
	return before
}
