package launch

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/direct"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/landlock"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
)

// beginDirect makes the namespaces of a sandbox, and its first process.
func (b *sandbox) beginDirect() (*direct.First, *Error) {
	fail := func(err error) (*direct.First, *Error) {
		return nil, setupError("the sandbox could not be set up", err)
	}
	var theirs ends
	defer theirs.close()
	fds, carry, err := b.standard(&theirs)
	if err != nil {
		return fail(err)
	}
	e := direct.Early{
		OwnNet: b.early.OwnNet, HostName: b.early.HostName, Session: !b.early.Terminal, Apart: b.early.Apart,
		Handed: b.early.Handed, HandTo: b.early.HandTo,
	}
	// Above the three, so that none is overwritten before it is where it goes.
	for i, fd := range fds {
		if e.Files[i], err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, FirstFile); err != nil {
			return fail(fmt.Errorf("standard %s: %w", streamNames[i], err))
		}
		theirs = append(theirs, e.Files[i])
	}
	first, err := direct.Begin(e)
	if err != nil {
		return fail(err)
	}
	b.mu.Lock()
	b.pid, b.shielded, b.carry = first.PID, true, carry
	b.mu.Unlock()
	return first, nil
}

// giveUp ends a sandbox of which there is nothing but its first process.
func (b *sandbox) giveUp(first *direct.First) {
	if first == nil {
		return
	}
	b.kill()
	first.Close()
	b.reap()
	first.Free()
}

// runDirect is the life of a sandbox that package direct makes.
func (b *sandbox) runDirect(first *direct.First) (int, error) {
	defer first.Free()
	defer first.Close()
	failed := b.buildDirect(first)
	if failed == nil {
		b.carry()
		failed = b.gateDirect(first)
	} else {
		b.kill()
	}
	var seen direct.Told
	for {
		told, more, err := first.Told()
		if err != nil && failed == nil {
			failed = setupError("the sandbox could not be set up", err)
		}
		if !more {
			break
		}
		switch {
		case told.NoExec != nil:
			seen.NoExec = told.NoExec
		case told.Ended:
			seen.Ended, seen.Status = true, told.Status
		}
	}
	ws := b.reap()
	b.endMounts()
	return b.verdictDirect(ws, seen, failed)
}

// buildDirect says what there is to see, and to start.
func (b *sandbox) buildDirect(first *direct.First) *Error {
	s, sb := b.spec, b.spec.Direct
	sb.Console = consoleOf(s.Stdout, s.Stdin, s.Stderr)
	sb.Streams = s.opensInside(sb.Console)
	searched, set := s.env("PATH")
	sb.Candidates = candidates(s.Argv[0], searched, set, sb.Dir)
	sb.Argv, sb.Env = s.Argv, uniqueEnv(append(s.Env[:len(s.Env):len(s.Env)], "PWD="+sb.Dir))
	sb.Seccomp, sb.Keep = s.Seccomp, s.SyncFile
	sb.Foreground = s.toFront
	var err error
	if sb.Run != nil {
		sb.Landlock, err = landlock.ExecuteSet()
	} else {
		sb.Landlock = landlock.ScopeSet()
	}
	if err == nil {
		err = first.Build(sb)
	}
	switch {
	case errors.Is(err, unix.E2BIG):
		return &Error{StatusCannot, s.Argv[0], err}
	case err != nil:
		return setupError("the sandbox could not be set up", err)
	}
	return nil
}

// gateDirect waits for the view and lets the program go. It returns why it did
// not.
func (b *sandbox) gateDirect(first *direct.First) *Error {
	if err := first.Ready(); err != nil {
		b.kill()
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.aborted != 0 {
			return nil
		}
		return setupError("the sandbox could not be set up", explained(err))
	}
	return b.passes(true, first.Go)
}

// verdictDirect is the status, from how the first process ended and what it
// said.
func (b *sandbox) verdictDirect(ws syscall.WaitStatus, seen direct.Told, failed *Error) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.lost != nil:
		return 128 + int(unix.SIGKILL), &Error{128 + int(unix.SIGKILL), "the sandbox was ended", b.lost}
	case failed != nil:
		return failed.Status, failed
	case seen.NoExec != nil:
		return b.cannotExec(seen.NoExec)
	case seen.Ended && seen.Status.Signaled():
		return 128 + int(seen.Status.Signal()), nil
	case seen.Ended:
		return seen.Status.ExitStatus(), nil
	case b.aborted != 0:
		return 128 + int(b.aborted), nil
	case ws.Signaled():
		return 128 + int(ws.Signal()), nil // with all the sandbox
	}
	return StatusSetup, setupError("the sandbox could not be set up", fmt.Errorf("its first process ended with %d", ws.ExitStatus()))
}

// cannotExec is why execve(2) failed, when all was as it should be when it was
// looked for.
func (b *sandbox) cannotExec(why error) (int, error) {
	name := b.spec.Argv[0]
	switch {
	case errors.Is(why, unix.EACCES) && b.spec.Direct.Run != nil:
		return StatusCannot, &Error{StatusCannot, name, ErrNotNamed}
	case errors.Is(why, unix.ENOENT):
		return StatusNotFound, &Error{StatusNotFound, name, errors.New("not found inside the sandbox, or what it is started by is not")}
	case errors.Is(why, unix.ENOEXEC):
		why = linuxwall.ErrNoProgram
	}
	return StatusCannot, &Error{StatusCannot, name, why}
}

// uniqueEnv leaves of two settings of one name the later, and what is no
// setting out.
func uniqueEnv(env []string) []string {
	last := make(map[string]int, len(env))
	name := func(e string) string {
		for i := range len(e) {
			if e[i] == '=' {
				return e[:i]
			}
		}
		return ""
	}
	for i, e := range env {
		last[name(e)] = i
	}
	kept := make([]string, 0, len(env))
	for i, e := range env {
		if n := name(e); n != "" && last[n] == i {
			kept = append(kept, e)
		}
	}
	return kept
}

// consoleOf gives the file of the terminal that a stream is on, or "". One of the
// same name and number can be somebody else's, in another file system of
// terminals than the stream came from (ttyname(3) compares the same).
func consoleOf(streams ...*os.File) string {
	for _, f := range streams {
		if f == nil || !isTerminal(int(f.Fd())) {
			continue
		}
		var st, there unix.Stat_t
		at, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(f.Fd())))
		if err == nil && unix.Fstat(int(f.Fd()), &st) == nil && unix.Lstat(at, &there) == nil &&
			there.Mode&unix.S_IFMT == unix.S_IFCHR && there.Dev == st.Dev && there.Ino == st.Ino {
			return at
		}
	}
	return ""
}
