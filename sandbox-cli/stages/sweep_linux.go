package stages

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/say"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/stubs"
)

// A watch is a process beside the wall that waits for the end of the run and
// takes its stubs and cgroups away should the wall be killed before it can. It
// is a shell that reads a pipe, whose other end is the wall's alone, and becomes
// the sweep stage when that falls: a shell starts in a tenth of our own time,
// and is paid for at every start.
type watch struct {
	cmd     *exec.Cmd
	hold    *os.File      // the wall's end of the pipe
	started chan struct{} // closed when it is there, or cannot be
	failed  error         // why it cannot
	ended   chan struct{} // closed when it is gone
	over    chan struct{} // closed when it may go
}

// watchOver starts the watch of a run that holds stubs or cgroups, beside what the start
// goes on with: [watch.there] says whether it is there. A run does not go on
// without its watch: it is told to end, as by SIGTERM.
func watchOver(dir string, held *stubs.Held, groups []string) *watch {
	w := &watch{started: make(chan struct{}), ended: make(chan struct{}), over: make(chan struct{})}
	if held.Record() == "" && len(groups) == 0 {
		close(w.started)
		return w
	}
	go func() {
		w.failed = w.start(append([]string{dir, held.Record()}, groups...))
		close(w.started)
		if w.failed != nil {
			return
		}
		w.cmd.Wait()
		close(w.ended)
		select {
		case <-w.over:
		default:
			syscall.Kill(os.Getpid(), syscall.SIGTERM)
		}
	}()
	return w
}

func (w *watch) start(sweeps []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("the watch over stubs: %w", err)
	}
	defer ours.Close()
	cmd := exec.Command("/bin/sh", "-c", `read -r _; exec "$0" sweep "$@"`, self)
	cmd.Args = append(cmd.Args, sweeps...)
	cmd.Stdin = ours
	cmd.Dir = "/"
	cmd.Env = []string{}
	// A session of its own: neither the terminal's signals nor a kill of the
	// caller's process group ends it before its work is done.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		theirs.Close()
		return fmt.Errorf("the watch over stubs: %w", err)
	}
	w.cmd, w.hold = cmd, theirs
	return nil
}

// there waits until the watch is, and says why it cannot be.
func (w *watch) there() error {
	<-w.started
	return w.failed
}

// end ends the watch: its work was done. It is given to be called once.
func (w *watch) end() {
	close(w.over)
	<-w.started
	if w.cmd != nil {
		w.cmd.Process.Kill()
		<-w.ended
		w.hold.Close()
	}
}

// sweep is what the watch becomes: it removes the stubs of a record, where
// there is one, and the cgroups behind it.
func sweep(_ say.Streams, args []string) (int, error) {
	if len(args) < 2 || !filepath.IsAbs(args[0]) {
		return say.StatusRefused, fmt.Errorf("want a folder and a record")
	}
	defer removeLeft(args[2:])
	if args[1] == "" {
		return 0, nil
	}
	if _, err := stubs.NewStore(args[0]).Await(context.Background(), args[1]); err != nil {
		return say.StatusFailed, err
	}
	return 0, nil
}
