package tool

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// maxOpens bounds how often an open that is disturbed is tried.
const maxOpens = 64

// openTop opens a folder on a way without links.
func openTop(path string) (*os.File, error) {
	return openAt(unix.AT_FDCWD, path, unix.RESOLVE_NO_SYMLINKS)
}

// openBelow opens what the program names below a folder, and says where that
// is. openat2(2), RESOLVE_BENEATH: Linux 5.6.
func openBelow(top *os.File, rest string) (*os.File, string, error) {
	f, err := openAt(int(top.Fd()), rest, unix.RESOLVE_BENEATH|unix.RESOLVE_NO_SYMLINKS|unix.RESOLVE_NO_MAGICLINKS)
	if err != nil {
		return nil, "", err
	}
	path, err := os.Readlink(descriptor(f))
	if err != nil {
		f.Close()
		return nil, "", err
	}
	return f, path, nil
}

func openAt(at int, path string, resolve uint64) (*os.File, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: resolve}
	for try := 1; ; try++ {
		fd, err := unix.Openat2(at, path, &how)
		if (err == unix.EINTR || err == unix.EAGAIN) && try < maxOpens {
			continue // EAGAIN: something on the way was moved meanwhile (openat2(2))
		}
		if err != nil {
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
		return os.NewFile(uintptr(fd), path), nil
	}
}

// descriptor is a path that leads to what is open, without a look at names
// (proc_pid_fd(5)). A child that has not yet executed leads it to the same.
func descriptor(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }
