package shim

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// unhandle has a signal do to this process what it does by itself. Go's runtime
// stays its handler else, which ignores most and prints every goroutine at
// SIGQUIT. What a core would hold is not asked for: it is not the tool's.
func unhandle(s syscall.Signal) {
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	var none [8]uint64 // the kernel's struct sigaction, all zeros: SIG_DFL (rt_sigaction(2))
	syscall.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&none)), 0, 8, 0, 0)
}
