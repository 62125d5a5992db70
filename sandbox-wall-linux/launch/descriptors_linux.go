package launch

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// closeAllOnExec keeps every descriptor of the process from what it starts, but
// for those that are passed on by name. Descriptors are inherited from whoever
// started us, and one open folder is enough to leave a sandbox.
func closeAllOnExec() error {
	err := unix.CloseRange(FirstFile, ^uint(0), unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		return nil
	}
	// Before Linux 5.11 there is no such flag, before 5.9 no such call.
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("descriptors: %w", err)
	}
	for _, e := range all {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd >= FirstFile {
			unix.CloseOnExec(fd) // one that is gone by now was the folder's own
		}
	}
	return nil
}

// ends are descriptors that are closed together.
type ends []int

func (e *ends) close() {
	for _, fd := range *e {
		unix.Close(fd)
	}
	*e = nil
}

// memory gives a descriptor from which b is read.
func memory(b []byte) (int, error) {
	fd, err := unix.MemfdCreate("bwrap-args", unix.MFD_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("memfd_create: %w", err)
	}
	for done := 0; done < len(b); {
		n, err := unix.Pwrite(fd, b[done:], int64(done))
		if err != nil {
			unix.Close(fd)
			return -1, fmt.Errorf("memfd: %w", err)
		}
		done += n
	}
	return fd, nil
}
