package socket

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What the kernel does not watch is not served with. It watches no regular file
// (epoll_ctl(2): EPERM), as it does no socket once a user has too many watched.
func TestNotWatched(t *testing.T) {
	fd, err := unix.Open(filepath.Join(t.TempDir(), "file"), unix.O_CREAT|unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := waited(fd); err == nil || !strings.Contains(err.Error(), "cannot be waited for") {
		t.Errorf("%v", err)
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != unix.EBADF {
		t.Errorf("it stays open: %v", err)
	}
}
