package child

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// Tie holds the caller to its thread, to start a child that ends with it: the
// parent-death signal is sent at the end of the thread that started the child,
// not of its process (prctl(2)).
//
// To be free again is for after the child was started. A goroutine that is held
// changes threads at each wait for another one, which takes tens of
// microseconds. It is let go where it is on the process's first thread alone,
// which ends with the process and not before: Go's runtime keeps it even when it
// has no more use for it (mexit in runtime/proc.go of Go 1.26). On any other it
// stays.
func Tie() (free func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		return func() {}
	}
	return runtime.UnlockOSThread
}
