package stages

import (
	"errors"
	"os"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
	"golang.org/x/sys/unix"
)

// errNested is that a sandbox was to be made in one of ours.
var errNested = errors.New("this is inside a sandbox already, and in one none can be made: run the program as it is, what it may touch is settled outside")

// Nested refuses to make a sandbox in one of ours, where the kernel would refuse
// it, step for step, for reasons that say little: our program is where every
// sandbox has it, and a call that its filter lacks is not there.
func Nested() error {
	if _, err := os.Lstat(linuxwall.ProgramInside); err != nil {
		return nil
	}
	fd, err := unix.Openat2(unix.AT_FDCWD, "/", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC})
	if err == nil {
		unix.Close(fd)
	}
	if err != unix.ENOSYS {
		return nil
	}
	return errNested
}
