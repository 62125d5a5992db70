package stages

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/say"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/launch"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/stubs"
)

// A watch is a process beside the wall that waits for the end of the run and
// takes its stubs away should the wall be killed before it can. It is a shell
// that reads a pipe, whose other end is the wall's alone, and becomes the sweep
// stage when that falls: a shell starts in a tenth of our own time, and is paid
// for at every start.
type watch struct {
	cmd   *exec.Cmd
	hold  *os.File      // the wall's end of the pipe
	ended chan struct{} // closed when it is gone
	over  chan struct{} // closed when it may go
}

// watchOver starts the watch of a run that holds stubs. A run does not go on
// without its watch: it is told to end, as by SIGTERM.
func watchOver(dir string, held *stubs.Held) (*watch, error) {
	w := &watch{ended: make(chan struct{}), over: make(chan struct{})}
	if held.Record() == "" {
		return w, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("the watch over stubs: %w", err)
	}
	defer ours.Close()
	w.hold = theirs
	w.cmd = exec.Command("/bin/sh", "-c", `read -r _; exec "$0" sweep "$1" "$2"`, self, dir, held.Record())
	w.cmd.Stdin = ours
	w.cmd.Dir = "/"
	w.cmd.Env = []string{}
	// A session of its own: neither the terminal's signals nor a kill of the
	// caller's process group ends it before its work is done.
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := w.cmd.Start(); err != nil {
		w.hold.Close()
		return nil, fmt.Errorf("the watch over stubs: %w", err)
	}
	go func() {
		w.cmd.Wait()
		close(w.ended)
		select {
		case <-w.over:
		default:
			syscall.Kill(os.Getpid(), syscall.SIGTERM)
		}
	}()
	return w, nil
}

// end ends the watch: its work was done. It is given to be called once.
func (w *watch) end() {
	close(w.over)
	if w.cmd != nil {
		w.cmd.Process.Kill()
		<-w.ended
		w.hold.Close()
	}
}

// sweep is what the watch becomes.
func sweep(_ say.Streams, args []string) (int, error) {
	if len(args) != 2 || !filepath.IsAbs(args[0]) {
		return say.StatusRefused, fmt.Errorf("want a folder and a record")
	}
	if _, err := stubs.NewStore(args[0]).Await(context.Background(), args[1]); err != nil {
		return say.StatusFailed, err
	}
	return 0, nil
}

// insideStage is the last step before the program, where there has to be one.
func insideStage(_ say.Streams, args []string) (int, error) {
	if len(args) < 2 || args[0] != "--" {
		return say.StatusSetup, fmt.Errorf("want -- and a program")
	}
	return say.StatusSetup, launch.Inside(args[1:], os.Environ())
}
