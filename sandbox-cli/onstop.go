package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/front"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

const (
	// onStopTime bounds each command that is run at a stop.
	onStopTime = 30 * time.Second
	// maxOnStops bounds how many are run.
	maxOnStops = 256
	// maxOnStop bounds the file of one, and maxOnStopSaid what is shown of
	// what a failed one said, in bytes.
	maxOnStop     = 64 << 10
	maxOnStopSaid = 2 << 10

	// inStopVariable is set in what runs at a stop: a stop that it asks for is
	// this one.
	inStopVariable = "LNK_SANDBOX_STOPPING"
)

// An onStop is the file of what runs at a stop, for one name.
type onStop struct {
	// Args are those of lnk: a plugin's name and what it is given.
	Args []string `json:"args"`
}

func newOnStop() *cobra.Command {
	return &cobra.Command{
		Use:    "on-stop <name> [-- <args>]",
		Short:  "Have `lnk <args>` run at a stop, for a name; with no args nothing does anymore",
		Hidden: true,
		Args:   cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if at := c.ArgsLenAtDash(); at > 1 || at < 0 && len(args) > 1 {
				return refuse("want one name, and the arguments of lnk behind --")
			}
			return setOnStop(args[0], args[1:])
		},
	}
}

func setOnStop(name string, args []string) error {
	dir, err := settings()
	if err != nil {
		return err
	}
	path, err := dir.OnStop(name)
	if err != nil {
		return refuse("%v", err)
	}
	if len(args) == 0 {
		return removeFlag(path)
	}
	if err := checkOnStop(args); err != nil {
		return err
	}
	text, err := json.Marshal(onStop{args})
	if err != nil {
		return refuse("%s: %v", name, err)
	}
	if len(text) >= maxOnStop {
		return refuse("%s: longer than 64 KiB", name)
	}
	if err := writeWhole(path, string(text)+"\n"); err != nil {
		return settingsError(err)
	}
	return nil
}

// checkOnStop refuses the sandbox itself: a stop must not be able to start
// another or to undo itself.
func checkOnStop(args []string) error {
	switch {
	case len(args) == 0 || args[0] == "":
		return refuse("no command: want the arguments of lnk")
	case args[0] == "sandbox":
		return refuse("lnk sandbox itself does not run at a stop")
	case !front.IsName(args[0]): // which would be found out at the stop
		return refuse("%q: want a plugin's name first", args[0])
	}
	return nil
}

// readOnStop reads one file, strictly, and judges it as when it was written.
func readOnStop(path string) (onStop, error) {
	f, err := os.Open(path)
	if err != nil {
		return onStop{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxOnStop))
	if err != nil {
		return onStop{}, err
	}
	var o onStop
	if err := json.Unmarshal(text, &o, json.RejectUnknownMembers(true)); err != nil {
		return onStop{}, errors.New("not what lnk sandbox on-stop writes")
	}
	return o, checkOnStop(o.Args)
}

// runOnStops runs what is to run at a stop, all at once, and waits for it. One
// that fails keeps none of the others.
func runOnStops(s Streams, dir client.SettingsFolder) error {
	if os.Getenv(inStopVariable) != "" {
		return nil
	}
	entries, err := os.ReadDir(dir.OnStops())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("on-stop: %w", err)
	}
	lnk, err := findLnk()
	if err != nil {
		return fmt.Errorf("on-stop: %w", err)
	}
	var mu sync.Mutex
	var failed int
	var all sync.WaitGroup
	run := 0
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		path, err := dir.OnStop(name)
		if !ok || err != nil {
			continue // a file being written, or none of ours
		}
		if run++; run > maxOnStops {
			complainLine(s.Err, "stop", fmt.Sprintf("on-stop: more than %d: the others were not run", maxOnStops))
			failed++
			break
		}
		all.Go(func() {
			if err := runOnStop(lnk, path); err != nil {
				mu.Lock()
				defer mu.Unlock()
				complainLine(s.Err, "stop", "on-stop "+name+": "+err.Error())
				failed++
			}
		})
	}
	all.Wait()
	if failed > 0 {
		return silentStatus(statusFailed)
	}
	return nil
}

func runOnStop(lnk, path string) error {
	o, err := readOnStop(path)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), onStopTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, lnk, o.Args...)
	cmd.Env = append(os.Environ(), inStopVariable+"=1")
	cmd.WaitDelay = time.Second
	said, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("lnk %s: not over after %s", strings.Join(o.Args, " "), onStopTime)
	case err != nil:
		said = bytes.TrimSpace(said)
		return fmt.Errorf("lnk %s: %w: %s", strings.Join(o.Args, " "), err, said[:min(len(said), maxOnStopSaid)])
	}
	return nil
}

// findLnk is the front: beside this binary, else on PATH.
func findLnk() (string, error) {
	if self, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		beside := filepath.Join(filepath.Dir(self), "lnk")
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	return exec.LookPath("lnk")
}
