package launch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// numbers are the descriptors of bubblewrap that Run makes, behind Files.
type numbers struct {
	args, filter, ready, status int
	sync                        int // 0 is none
	orders                      int // 0 is none
}

func numbersAfter(files int, sync, orders bool) numbers {
	n := FirstFile + files
	nn := numbers{args: n, filter: n + 1, ready: n + 2, status: n + 3}
	if sync {
		nn.sync = n + 4
		n++
	}
	if orders {
		nn.orders = n + 4
	}
	return nn
}

// options gives all of bubblewrap's options. They go down a descriptor: what
// the environment holds is not for everybody's ps.
func (s *Spec) options(n numbers) []string {
	o := []string{"--die-with-parent", "--clearenv"}
	if !s.Terminal {
		o = append(o, "--new-session")
	}
	for _, e := range s.Env {
		if name, value, ok := strings.Cut(e, "="); ok && name != "" {
			o = append(o, "--setenv", name, value)
		}
	}
	o = append(o,
		"--json-status-fd", strconv.Itoa(n.status),
		"--block-fd", strconv.Itoa(n.ready),
		"--seccomp", strconv.Itoa(n.filter))
	if n.sync != 0 {
		o = append(o, "--sync-fd", strconv.Itoa(n.sync))
	}
	o = append(o, s.Args...)
	return append(o, coverFirst(s.Args, s.NoSize)...)
}

// coverFirst hides the sandbox's first process in /proc. Its memory could be
// written from inside before it is under the filter, and through its
// descriptors the SyncFile could be opened again.
func coverFirst(args []string, noSize bool) []string {
	i := slices.Index(args, "--proc")
	if i < 0 || i+1 == len(args) {
		return nil
	}
	at := args[i+1] + "/1"
	if noSize {
		return []string{"--perms", "0555", "--tmpfs", at, "--remount-ro", at}
	}
	return []string{"--perms", "0555", "--size", "4096", "--tmpfs", at, "--remount-ro", at}
}

// frontWord stands before the program's words where [Inside] makes it the
// terminal's foreground. No program has an empty name.
const frontWord = ""

// argv gives bubblewrap's argv, and what it reads from n.args. staged is
// whether the stage inside comes before the program.
func (s *Spec) argv(n numbers, staged bool) (argv []string, args []byte, err error) {
	if n.orders != 0 {
		argv = append(argv, s.Prepare...)
		argv = append(argv, strconv.Itoa(n.orders), strconv.Itoa(n.status), "--")
	}
	argv = append(argv, s.Bwrap, "--args", strconv.Itoa(n.args), "--")
	if staged || s.Staged || s.toFront && len(s.Stage) > 0 {
		argv = append(argv, s.Stage...)
		if s.toFront {
			argv = append(argv, frontWord)
		}
	}
	argv = append(argv, s.Argv...)
	options := s.options(n)
	if words := len(options) + len(argv); words > maxWords {
		return nil, nil, setupError(fmt.Sprintf("%d words for bubblewrap", words),
			fmt.Errorf("it takes %d: name fewer paths, variables or arguments", maxWords))
	}
	return argv, []byte(strings.Join(options, "\x00") + "\x00"), nil
}

// env gives the value of a variable of the program's.
func (s *Spec) env(name string) (string, bool) {
	for _, e := range slices.Backward(s.Env) {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// dir is where the program starts, if Args say.
func (s *Spec) dir() string {
	if s.Direct != nil {
		return s.Direct.Dir
	}
	dir := ""
	for i, a := range s.Args {
		if a == "--chdir" && i+1 < len(s.Args) {
			dir = s.Args[i+1]
		}
	}
	return dir
}
