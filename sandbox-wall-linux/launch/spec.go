package launch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/direct"
)

// Spec is what to start.
type Spec struct {
	_ [0]func()

	// Direct has the sandbox made by package direct, of the view that it holds;
	// what else it holds is filled in from here. Nil is bubblewrap, for which
	// are Bwrap, Args, Files, Stage, Staged, NoSize, Orders and Prepare.
	Direct *direct.Sandbox
	// Bwrap is bubblewrap's path.
	Bwrap string
	// Args are its options but for the program and for what Run adds: the
	// filter, the environment, and what ties the sandbox to its parent.
	Args []string
	// Seccomp is the filter. There is no starting without one.
	Seccomp []byte
	// Files are passed on: Files[i] is descriptor [FirstFile]+i, which is what
	// Args name. One that no option of theirs uses up stays open in the
	// program.
	Files []*os.File
	// SyncFile stays open in the sandbox's first process, and in it alone, for
	// as long as the sandbox lives; nil is none.
	SyncFile *os.File
	// Argv is the program and its arguments; Argv[0] is found on Env's PATH
	// inside.
	Argv []string
	// Env is the program's environment, "NAME=value" each; of two that set one
	// name the later holds.
	Env []string
	// Stage is the argv prefix of a program inside that calls [Inside] with
	// what follows it. It is used for a terminal where the pid namespace
	// cannot be had.
	Stage []string
	// Contain is given the sandbox's first process when all is made, to put it,
	// and so the program, into what bounds them; its error is why the program
	// does not start. Nil is nothing.
	Contain func(pid int) error
	// Before is called when all is made and the program is about to start; its
	// error is why it does not. Nil is nothing to wait for.
	Before func() error
	// Mounts is asked with the sandbox's table of mounts (proc_pid_mountinfo(5))
	// once all is made, and again whenever that changes: its error is why the
	// program does not start, or why the sandbox is ended. Nil is no reason. After
	// the first time it may be asked twice at once.
	Mounts func(mountinfo string) error
	// Held are files and folders that mounts of the sandbox stand on. Mounts is
	// asked as well when one of them is renamed, which wakes nobody by itself.
	Held []string
	// Staged has the program started through Stage whatever the machine, and
	// leaves the scopes of Landlock to it (see landlock.Execute).
	Staged bool
	// Reopens has it started through Stage as well, which opens anew those of its
	// streams that are devices.
	Reopens bool
	// NoSize is a bubblewrap without --size.
	NoSize bool
	// Orders, where there are any, are written down for package noexec, and
	// done before bubblewrap starts, in a mount namespace of its own.
	Orders []byte
	// Prepare is the argv prefix of the program, outside, that does them and
	// becomes bubblewrap: it calls [Prepared] with what follows it.
	Prepare []string
	// toFront has the program be the foreground of its terminal before it starts.
	// A shell makes itself that, and remembers who was it, to put them back when it
	// ends; our group has no number where it is, and dash fails on that.
	toFront bool
	// MustScope refuses a kernel that cannot keep abstract sockets and signals
	// in; otherwise what the kernel has is used.
	MustScope bool
	Early
}

// Early is what is known of a program before what it will see.
type Early struct {
	_ [0]func()

	// Terminal keeps the program on its caller's terminal.
	Terminal bool
	// OwnNet is an empty network of its own, and HostName its name for itself,
	// where package direct makes the sandbox; bubblewrap is told by Args.
	OwnNet   bool
	HostName string
	// Handed and HandTo are direct.Early's: sockets of that network are handed
	// out of it.
	Handed []direct.Handed
	HandTo int
	// Apart is direct.Early's, for a sandbox whose memory is bounded.
	Apart bool
	// Stdin, Stdout and Stderr are the program's own; nil is /dev/null.
	Stdin, Stdout, Stderr *os.File
}

// FirstFile is the descriptor that Files begin at.
const FirstFile = 3

// graceTime is how long a program that was told to end may take, before its sandbox
// is killed.
const graceTime = 10 * time.Second

// Statuses of a program that was not started, as shells have them.
const (
	StatusSetup    = 125
	StatusCannot   = 126
	StatusNotFound = 127
)

// An Error is why the program was not started, or did not go on.
type Error struct {
	// Status is 125 when the sandbox could not be set up, 126 when the program
	// cannot be executed and 127 when it is not found; 137 when the sandbox
	// was ended because of [Spec.Mounts].
	Status int
	// What could not be done.
	What string
	// Err is why.
	Err error
}

func (e *Error) Error() string {
	if e.Err == nil {
		return e.What
	}
	return fmt.Sprintf("%s: %v", e.What, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

func setupError(what string, err error) *Error { return &Error{StatusSetup, what, err} }

// refuses says whether what the kernel cannot keep in must be.
func (s *Spec) refuses(missing string) *Error {
	if missing == "" || !s.MustScope {
		return nil
	}
	return setupError("the sandbox could not be set up", errors.New(missing))
}

// restricted is whether only some files may be executed.
func (s *Spec) restricted() bool { return s.Staged || s.Direct != nil && s.Direct.Run != nil }

// Limits of what is passed to bubblewrap.
const (
	// maxWords is what bubblewrap takes of words, its own among them
	// (MAX_ARGS in bubblewrap.c).
	maxWords = 9000
	// maxFilter fits the smallest pipe there is, a page, in one piece.
	maxFilter = 4096
)

// check refuses what could be held against the caller's meaning.
func (s *Spec) check() error {
	switch {
	case s.Direct == nil && !filepath.IsAbs(s.Bwrap):
		return setupError(fmt.Sprintf("bubblewrap %q", s.Bwrap), fmt.Errorf("not an absolute path"))
	case len(s.Argv) == 0 || s.Argv[0] == "":
		return setupError("no program to start", nil)
	case len(s.Seccomp) == 0 || len(s.Seccomp) > maxFilter:
		return setupError("system call filter", fmt.Errorf("%d bytes, want 1 to %d", len(s.Seccomp), maxFilter))
	}
	for _, words := range [][]string{s.Args, s.Argv, s.Env, s.Stage} {
		for _, w := range words {
			if strings.ContainsRune(w, 0) {
				return setupError(fmt.Sprintf("%q", w), fmt.Errorf("holds a NUL"))
			}
		}
	}
	return nil
}
