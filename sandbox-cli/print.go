package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// What people read is printed here and nowhere else:
//   - one line a fact, prefixed "lnk sandbox <command>: ", lower case, no full stop;
//   - what to do about it stands behind a semicolon, or on a line of its own that starts with "hint: ";
//   - standard output carries answers (JSON, a plan, a table), standard error everything else;
//   - text from outside (names, paths, a program's words) is shown with its control bytes escaped.

// exitError is an error with the status that the process ends with.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// Exit statuses of `run` and of every wrapped command (env(1) uses the same).
const (
	statusFailed    = 1   // it could not be done
	statusRefused   = 2   // the request was refused
	statusSetup     = 125 // the sandbox could not be set up
	statusCannotRun = 126 // the program is there and cannot be executed
	statusNotFound  = 127 // the program is not there
)

func refuse(format string, a ...any) error {
	return &exitError{statusRefused, fmt.Errorf(format, a...)}
}

func setupFailed(err error) error { return &exitError{statusSetup, err} }

// statusOf gives the exit status for err: what it carries, else 1.
func statusOf(err error) int {
	var e *exitError
	if errors.As(err, &e) {
		return e.status
	}
	return statusFailed
}

// complain prints err as one line for the command.
func complain(w io.Writer, command string, err error) { complainLine(w, command, err.Error()) }

func complainLine(w io.Writer, command, line string) {
	fmt.Fprintf(w, "lnk sandbox %s: %s\n", command, oneLine(line))
}

// oneLine shows text on one line: control bytes and invalid UTF-8 are escaped,
// so that a name from outside can neither forge a line nor steer a terminal.
func oneLine(s string) string {
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
