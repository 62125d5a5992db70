package stubs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Where there is no descriptor left, that is why a stub cannot be made, and the
// folder that was made for it does not stay.
func TestNoDescriptorLeft(t *testing.T) {
	dir := t.TempDir()
	folder, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(folder)
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 1, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	_, err = takeOnce(folder, &entry{Path: filepath.Join(dir, ".git")})
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, unix.EMFILE) || !errors.Is(err, ErrCannotMake) {
		t.Errorf("%v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// In a folder in which nothing can be removed again no name is held.
func TestAppendOnly(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to mark a folder")
	}
	dir := t.TempDir()
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	was, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, was|unix.STATX_ATTR_APPEND)
	}
	if err != nil {
		t.Fatalf("TMPDIR is on a file system without marks (chattr): %v", err)
	}
	h, err := NewStore(filepath.Join(t.TempDir(), "store")).Hold([]Want{{Path: filepath.Join(dir, ".git")}})
	if err == nil {
		h.Release()
	}
	if back := unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, was); back != nil {
		t.Fatal(back)
	}
	if !errors.Is(err, ErrCannotMake) || !strings.Contains(err.Error(), "append only") {
		t.Errorf("%v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
}
