package stages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/say"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/direct"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/stubs"
)

// A watch is a process beside the wall that waits for the end of the run and
// takes its stubs and cgroups away should the wall be killed before it can: then
// it becomes the sweep stage.
type watch struct {
	*direct.AtEnd
	ended chan struct{} // closed when it is gone
	mayGo chan struct{} // closed when it may

	mayGoOnce sync.Once
}

// newWatch begins one. A run does not go on without its watch: it is told to end,
// as by SIGTERM.
func newWatch() (*watch, error) {
	at, err := direct.BeginAtEnd()
	if err != nil {
		return nil, err
	}
	w := &watch{AtEnd: at, ended: make(chan struct{}), mayGo: make(chan struct{})}
	go func() {
		at.Wait()
		close(w.ended)
		select {
		case <-w.mayGo:
		default:
			syscall.Kill(os.Getpid(), syscall.SIGTERM)
		}
	}()
	return w, nil
}

// over says what there is to take away: the stubs that are listed in a record, in
// a folder of records, where there is one, and cgroups.
func (w *watch) over(dir, record string, groups []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return w.Become(append([]string{self, "sweep", dir, record}, groups...))
}

// there says why the watch is not.
func (w *watch) there() error {
	select {
	case <-w.ended:
		return errors.New("the process that takes away what a killed run leaves has ended")
	default:
		return nil
	}
}

// unneeded says that the program has ended: should the watch end as well, its
// work is being done, and is not to be cut off.
func (w *watch) unneeded() { w.mayGoOnce.Do(func() { close(w.mayGo) }) }

// end ends the watch: its work was done. It is given to be called once.
func (w *watch) end() {
	w.unneeded()
	w.Kill()
	<-w.ended
	w.Close()
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
