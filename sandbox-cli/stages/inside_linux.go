package stages

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/say"
	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/landlock"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/launch"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/noexec"
)

// byBubblewrap has bubblewrap make a plan's sandbox, after the plan's orders. Where
// commands are restricted these make everything unfit to be executed but what is
// named, and the stage inside has Landlock hold it.
func byBubblewrap(spec *launch.Spec, plan linuxwall.Plan, opened *linuxwall.Opened) error {
	spec.Bwrap, spec.Args, spec.Files = plan.Bwrap, plan.BwrapArgs(launch.FirstFile), opened.Files()
	spec.Stage = []string{linuxwall.ProgramInside, "inside", "--"}
	spec.NoSize = slices.Contains(plan.Lacks, "--size")
	var orders noexec.Orders
	if plan.Orders != nil {
		orders = *plan.Orders
	}
	if os.Geteuid() == 0 { // whose they are, so that it could change them
		orders.ReadOnly, spec.Reopens = launch.Devices(spec.Early), true
	}
	if plan.Orders == nil && len(orders.ReadOnly) == 0 {
		return nil
	}
	if orders.Store != "" {
		if err := os.MkdirAll(orders.Store, 0o700); err != nil {
			return fmt.Errorf("settings: %w", err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("our own binary: %w", err)
	}
	spec.Orders, spec.Prepare = orders.Encode(), []string{self, "noexec"}
	if plan.Run == nil {
		return nil
	}
	spec.Staged = true
	spec.Stage = []string{linuxwall.ProgramInside, "inside"}
	for _, path := range plan.Run {
		spec.Stage = append(spec.Stage, runFlag, path)
	}
	spec.Stage = append(spec.Stage, "--")
	return nil
}

const runFlag = "--run"

// noexecStage is the step before bubblewrap, where commands are restricted.
// What it cannot do is said by the wall, which waits for it.
func noexecStage(_ say.Streams, args []string) (int, error) { return launch.Prepared(args), nil }

// insideStage is the last step before the program, where there has to be one.
func insideStage(_ say.Streams, args []string) (int, error) {
	var run []string
	for len(args) > 1 && args[0] == runFlag {
		run, args = append(run, args[1]), args[2:]
	}
	if len(args) < 2 || args[0] != "--" {
		return say.StatusSetup, fmt.Errorf("want -- and a program")
	}
	if run == nil {
		return becomes(args[1:])
	}
	runtime.LockOSThread() // the thread that is restricted becomes the program
	if err := landlock.Execute(run); err != nil {
		return say.StatusSetup, err
	}
	status, err := becomes(args[1:])
	var e *launch.Error
	if errors.As(err, &e) && errors.Is(err, fs.ErrPermission) {
		e.Err = launch.ErrNotNamed
	}
	return status, err
}

// becomes gives the status of a program that it could not become.
func becomes(argv []string) (int, error) {
	err := launch.Inside(argv, os.Environ())
	var e *launch.Error
	if errors.As(err, &e) {
		return e.Status, err
	}
	return say.StatusSetup, err
}
