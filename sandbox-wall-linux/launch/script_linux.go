package launch

import (
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/procfs"
)

// maxAncestors bounds how far up is looked.
const maxAncestors = 64

// ScriptOf gives the shell above this process that reads its script from the pipe
// that f is, or "". Such a shell goes on where a program that reads the pipe leaves
// it: behind a "#", or in the middle of a word, and so executes what was not
// written to be executed. What may not be looked at is not found: another user's
// shell, or one that was started otherwise than by a name of its own.
//
// A shell forks itself for a part of its script (a pipeline's group, a function):
// such a copy reads no script, and has what was piped to that part. It is the
// shell above it that is asked.
func ScriptOf(f *os.File) string {
	var pipe unix.Stat_t
	if unix.Fstat(int(f.Fd()), &pipe) != nil || pipe.Mode&unix.S_IFMT != unix.S_IFIFO {
		return ""
	}
	pid := os.Getppid()
	of := imageOf(pid)
	for range maxAncestors {
		above := imageOf(of.parent)
		var in unix.Stat_t
		if of.began != above.began && unix.Stat(fmt.Sprintf("/proc/%d/fd/0", pid), &in) == nil && in.Dev == pipe.Dev && in.Ino == pipe.Ino && readsInput(of.args) {
			return path.Base(of.args[0])
		}
		if of.parent == 0 {
			return ""
		}
		pid, of = of.parent, above
	}
	return ""
}

// An image is what a process executes, which its copies have in common.
type image struct {
	parent int
	args   []string
	began  string // its arguments, and where the kernel put them when it was executed
}

// imageOf looks at a process (proc_pid_stat(5): the parent is the fourth field,
// startstack the 28th and arg_start the 48th). One that is not there has no
// arguments.
func imageOf(pid int) image {
	line, _ := procText(pid, "cmdline")
	stat, _ := procText(pid, "stat")
	words := procfs.Stat(stat)
	if len(words) < 46 {
		return image{}
	}
	parent, _ := strconv.Atoi(words[1])
	return image{
		parent: parent,
		args:   strings.Split(strings.TrimSuffix(line, "\x00"), "\x00"),
		began:  strings.Join([]string{line, words[25], words[45]}, "\x00"),
	}
}
