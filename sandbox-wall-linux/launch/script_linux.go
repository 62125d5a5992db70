package launch

import (
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// maxAncestors bounds how far up is looked.
const maxAncestors = 64

// ScriptOf gives the shell above this process that reads its script from the pipe
// that f is, or "". Such a shell executes what is written to the pipe, and a
// program that has one end of a pipe can open the other, by /proc/self/fd, so that
// a sandbox which had it would have no wall. What may not be looked at is not
// found: another user's shell, or one that was started otherwise than by a name of
// its own.
func ScriptOf(f *os.File) string {
	var pipe unix.Stat_t
	if unix.Fstat(int(f.Fd()), &pipe) != nil || pipe.Mode&unix.S_IFMT != unix.S_IFIFO {
		return ""
	}
	pid := os.Getppid()
	for range maxAncestors {
		var in unix.Stat_t
		if unix.Stat(fmt.Sprintf("/proc/%d/fd/0", pid), &in) == nil && in.Dev == pipe.Dev && in.Ino == pipe.Ino {
			line, _ := procText(pid, "cmdline")
			args := strings.Split(strings.TrimSuffix(line, "\x00"), "\x00")
			if readsInput(args) {
				return path.Base(args[0])
			}
		}
		p, err := statusOf(pid)
		if err != nil || p.parent <= 1 {
			return ""
		}
		pid = p.parent
	}
	return ""
}
