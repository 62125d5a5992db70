package say

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
)

// Streams are the standard streams of one command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// ExitError is an error with the status that the process ends with.
type ExitError struct {
	Status int   // of those below, or a program's own
	Err    error // what is said of it
}

func (e *ExitError) Error() string { return e.Err.Error() }
func (e *ExitError) Unwrap() error { return e.Err }

// Exit statuses of `run` and of every wrapped command (env(1) uses the same).
const (
	StatusFailed    = 1   // it could not be done
	StatusRefused   = 2   // the request was refused
	StatusSetup     = 125 // the sandbox could not be set up
	StatusCannotRun = 126 // the program is there and cannot be executed
	StatusNotFound  = 127 // the program is not there
)

// WithStatus is err with the status that the process ends with.
func WithStatus(status int, err error) error { return &ExitError{status, err} }

// Refuse is the error of a request that is refused.
func Refuse(format string, a ...any) error {
	return &ExitError{StatusRefused, fmt.Errorf(format, a...)}
}

// SetupFailed is the error of a sandbox that could not be set up.
func SetupFailed(err error) error { return &ExitError{StatusSetup, err} }

// StatusOf gives the exit status for err: what it carries, else 1.
func StatusOf(err error) int {
	var e *ExitError
	if errors.As(err, &e) {
		return e.Status
	}
	return StatusFailed
}

// Complain prints err as one line for the command, or for all of them where it
// is empty.
// Several that were joined are parted by semicolons.
func Complain(w io.Writer, command string, err error) {
	line := strings.ReplaceAll(err.Error(), "\n", "; ")
	tooMany := errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
	if tooMany && !strings.Contains(line, "ulimit") {
		line += ": raise the limit on open files (ulimit -n)"
	}
	if errors.Is(err, syscall.EFBIG) && !strings.Contains(line, "ulimit") {
		line += ": raise the limit on the size of files (ulimit -f)"
	}
	if errors.Is(err, syscall.EAGAIN) && !strings.Contains(line, "ulimit") {
		line += ": raise the limit on processes (ulimit -u), or end some"
	}
	ComplainLine(w, command, line)
}

// ComplainLine prints a line for the command.
func ComplainLine(w io.Writer, command, line string) {
	if command != "" {
		command = " " + command
	}
	fmt.Fprintf(w, "lnk sandbox%s: %s\n", command, OneLine(line))
}

// OneLine shows text on one line: control bytes and invalid UTF-8 are escaped,
// so that a name from outside can neither forge a line nor steer a terminal.
func OneLine(s string) string {
	if strings.IndexFunc(s, unprintable) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := decodeRune(s[i:])
		if unprintable(r) {
			for _, c := range []byte(s[i : i+n]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}
