package child

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/say"
	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
)

// RunAsItIs runs a command with no wall and gives its status. It is in our
// process group, as if we were not there, and ends when we do.
func RunAsItIs(argv, env []string) (int, error) {
	path, err := lookUp(argv[0], env)
	if err != nil {
		return say.StatusOf(err), err
	}
	signals := Hold(term.IsTerminal(int(os.Stdin.Fd())))
	defer signals.Stop()
	free := Tie()
	cmd, err := started(path, argv, env)
	if errors.Is(err, syscall.ENOEXEC) { // as execvp(3) has it
		if err = linuxwall.FileForShell(path); err == nil {
			cmd, err = started("/bin/sh", append([]string{"/bin/sh", path}, argv[1:]...), env)
		}
	}
	free()
	if err != nil {
		err = say.WithStatus(say.StatusCannotRun, fmt.Errorf("%s: %w", argv[0], plain(err)))
		return say.StatusOf(err), err
	}
	signals.PassTo(cmd.Process.Pid)
	return Reap(cmd), nil
}

// started starts a program on our own streams.
func started(path string, argv, env []string) (*exec.Cmd, error) {
	cmd := exec.Command(path)
	cmd.Args, cmd.Env = argv, env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd, cmd.Start()
}

// lookUp finds a program on the PATH of an environment, as execvp(3) does.
func lookUp(name string, env []string) (string, error) {
	path := ""
	for _, v := range env {
		if value, is := strings.CutPrefix(v, "PATH="); is {
			path = value
		}
	}
	tried := []string{name}
	if !strings.Contains(name, "/") {
		tried = nil
		for dir := range strings.SplitSeq(path, ":") {
			tried = append(tried, cmp.Or(dir, ".")+"/"+name)
		}
	}
	found := false
	for _, at := range tried {
		info, err := os.Stat(at)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			found = true
		case err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0:
			return at, nil
		case err == nil:
			found = true
		}
	}
	if found {
		return "", say.WithStatus(say.StatusCannotRun, fmt.Errorf("%s: it cannot be executed", name))
	}
	return "", say.WithStatus(say.StatusNotFound, fmt.Errorf("%s: not found", name))
}

// plain is the system's word alone: what it was said of stands before it.
func plain(err error) error {
	var no syscall.Errno
	if errors.As(err, &no) {
		return no
	}
	return err
}
