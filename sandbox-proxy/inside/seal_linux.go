package inside

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// seal gives up what could change the network again, before the program
// starts. execve(2) keeps the credentials of the thread that calls it, which
// is this one, since Enter's goroutine is locked to it.
//
// An ordinary user's process gives up every capability: capset(2) with empty
// sets empties the ambient one too, and no_new_privs keeps execve(2) from
// giving any back, whatever the bounding set says. It does so on all threads,
// so that a caller's mistake about the thread opens nothing; that stops each of
// them once and takes about half a millisecond.
//
// Root's execve(2) gives it the whole bounding set, and bubblewrap needs most
// of it, CAP_SETFCAP to map uid 0 among it (Linux 5.12). So root loses
// CAP_NET_ADMIN and CAP_NET_RAW from the bounding set, which nothing gives
// back, and the wall gives up the rest, these two on every thread included.
func seal(uid int) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return failed(StepSeal, "no_new_privs", err)
	}
	if uid == 0 {
		for _, c := range []struct {
			name   string
			number uintptr
		}{{"CAP_NET_ADMIN", unix.CAP_NET_ADMIN}, {"CAP_NET_RAW", unix.CAP_NET_RAW}} {
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, c.number, 0, 0, 0); err != nil {
				return failed(StepSeal, "drop "+c.name+" from the bounding set", err)
			}
		}
		return nil
	}
	err := onAllThreads(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&capHeader)), uintptr(unsafe.Pointer(&noCaps)))
	return failed(StepSeal, "give up every capability", err)
}

// What capset(2) is given. They are no locals, since a stack may move while
// the threads are stopped.
var (
	capHeader = unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	noCaps    [2]unix.CapUserData
)

// onAllThreads makes a call on every thread. A program built with cgo cannot
// do that, as its threads are not all the runtime's; there it is made on this
// one alone.
func onAllThreads(call, a, b uintptr) error {
	_, _, errno := syscall.AllThreadsSyscall6(call, a, b, 0, 0, 0, 0)
	if errno == syscall.ENOTSUP {
		_, _, errno = syscall.RawSyscall6(call, a, b, 0, 0, 0, 0)
	}
	if errno != 0 {
		return errno
	}
	return nil
}
