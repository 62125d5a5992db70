package cli

import "golang.org/x/sys/unix"

// dupCloseOnExec gives another descriptor for the same, which no child gets.
func dupCloseOnExec(fd int) (int, error) {
	return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
}
