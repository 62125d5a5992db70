package linuxwall

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func duplicate(t *testing.T, fd int) *os.File {
	t.Helper()
	n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(n), "duplicate")
}
