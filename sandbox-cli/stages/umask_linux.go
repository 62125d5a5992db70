package stages

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

var errUmask = errors.New("the umask takes your own rights away from everything that is made, the sandbox's files among it: set another (umask 022)")

// Umask refuses a umask under which a sandbox's own files could not be opened
// again. Root opens them whatever their modes are.
func Umask() error {
	if os.Getuid() == 0 {
		return nil
	}
	was := unix.Umask(0o077)
	unix.Umask(was)
	if was&0o700 != 0 {
		return errUmask
	}
	return nil
}
