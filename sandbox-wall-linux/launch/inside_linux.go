package launch

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
)

// Inside is the stage inside: it hears again the signals that bubblewrap was
// deaf to, opens devices anew, is the terminal's foreground where it is to be,
// finds argv[0] on env's PATH, and becomes it. It returns only when it could not,
// an [Error] with 126 or 127.
func Inside(argv, env []string) error {
	front := len(argv) > 1 && argv[0] == frontWord
	if front {
		argv = argv[1:]
	}
	if len(argv) == 0 {
		return &Error{StatusNotFound, "no program to start", nil}
	}
	// What is caught is the default again in what is executed; what is ignored
	// would stay ignored.
	signal.Notify(make(chan os.Signal, 1), groups...)
	reopen()
	if front {
		toFront()
	}
	s := Spec{Env: env}
	searched, set := s.env("PATH")
	var cannot error
	for _, file := range candidates(argv[0], searched, set, ".") {
		err := syscall.Exec(file, argv, env)
		if errors.Is(err, unix.ENOEXEC) { // as execvp(3) has it
			if err = linuxwall.FileForShell(file); err == nil {
				err = syscall.Exec(shell, append([]string{shell, file}, argv[1:]...), env)
			}
		}
		switch {
		case errors.Is(err, unix.ENOENT) && missing(file), errors.Is(err, unix.ENOTDIR):
		case errors.Is(err, unix.EACCES):
			cannot = err
		default:
			return &Error{StatusCannot, argv[0], err}
		}
	}
	if cannot != nil {
		return &Error{StatusCannot, argv[0], cannot}
	}
	return &Error{StatusNotFound, argv[0], errors.New("not found inside the sandbox")}
}

const shell = "/bin/sh"

// missing tells a file that is not there from one whose interpreter is not.
func missing(file string) bool {
	_, err := os.Stat(file)
	return err != nil
}
