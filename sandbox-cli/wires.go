package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lnkhq/lnk-sandbox/measure-contract"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// maxWhy bounds the text of a pause, in bytes: as much as is read of it.
const maxWhy = 4 << 10

// What opens ways out again, as a person types it.
const (
	startCommand  = "lnk sandbox start"
	resumeCommand = "lnk sandbox resume " // and the sandbox
)

// addWires adds the commands that close ways out and open them again.
func addWires(root *cobra.Command, s Streams) {
	stop := &cobra.Command{
		Use:   "stop",
		Short: "Cut every sandbox's way out, at once, until start",
		Long: `stop cuts every call of every sandbox on this account, at once, and has new ones
refused until ` + "`lnk sandbox start`" + `. Sandboxes that start meanwhile are stopped
too. Programs keep running. Then what others asked to be run at a stop is run.

A sandbox on this machine's own network (mode host with localhost) has no way out
of ours to cut: one that runs goes on, and none starts until ` + "`lnk sandbox start`" + `.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return stopWires(s) },
	}
	start := &cobra.Command{
		Use: "start", Short: "Open again what stop has cut", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return startWires() },
	}
	var why string
	pause := &cobra.Command{
		Use:   "pause <sandbox> [--why <text>]",
		Short: "Hold one sandbox's way out as it is, until resume",
		Long: `pause holds one sandbox's open calls where they are, moving nothing, and has new
ones refused until ` + "`lnk sandbox resume`" + `; what calls its served ports is reset then.
The text is told with every refusal.
` + "`lnk sandbox traffic`" + ` shows what sandboxes are called.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return pauseWire(s, args[0], why) },
	}
	pause.Flags().StringVar(&why, "why", "", "a `text`: what it is paused for; the program is told")
	resume := &cobra.Command{
		Use: "resume <sandbox>", Short: "Go on after pause", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return resumeWire(s, args[0]) },
	}
	var asJSON bool
	paused := &cobra.Command{
		Use: "paused [--json]", Short: "Say which ways out are stopped or paused, and why", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return pausedWires(s, asJSON) },
	}
	paused.Flags().BoolVar(&asJSON, "json", false, "as one object of JSON")
	root.AddCommand(stop, start, pause, resume, paused)
}

// settings is the settings folder of who calls.
func settings() (client.SettingsFolder, error) {
	dir, err := settingsFolder()
	if err != nil {
		return "", settingsError(err)
	}
	return dir, nil
}

// stopWires sets the flag before anything else: whatever an agent does at its
// end, its way out is closed.
func stopWires(s Streams) error {
	dir, err := settings()
	if err != nil {
		return err
	}
	if err := writeWhole(dir.Stopped(), ""); err != nil {
		return settingsError(err)
	}
	complainLine(s.Err, "stop", "every wire is stopped; to open them again: "+startCommand)
	return runOnStops(s, dir)
}

func startWires() error {
	dir, err := settings()
	if err != nil {
		return err
	}
	return removeFlag(dir.Stopped())
}

func pauseWire(s Streams, sandbox, why string) error {
	dir, err := settings()
	if err != nil {
		return err
	}
	flag, err := dir.Paused(sandbox)
	if err != nil {
		return refuse("%v", err)
	}
	if len(why) > maxWhy {
		return refuse("--why: longer than %d bytes", maxWhy)
	}
	if err := writeWhole(flag, why); err != nil {
		return settingsError(err)
	}
	running, err := client.ReadTrafficFrom(dir, client.StartMarker)
	var names []string
	for _, t := range running {
		names = append(names, t.Sandbox)
	}
	if err == nil && !slices.Contains(names, sandbox) {
		complainLine(s.Err, "pause", sandbox+": no sandbox of that name has a way out now; one that starts is held"+askedFor("pause", sandbox, names))
	}
	return nil
}

func resumeWire(s Streams, sandbox string) error {
	dir, err := settings()
	if err != nil {
		return err
	}
	flag, err := dir.Paused(sandbox)
	if err != nil {
		return refuse("%v", err)
	}
	if _, err := os.Lstat(flag); errors.Is(err, fs.ErrNotExist) {
		var names []string
		if all, err := client.ReadWiresFrom(dir); err == nil {
			for _, p := range all.Paused {
				names = append(names, p.Sandbox)
			}
		}
		complainLine(s.Err, "resume", sandbox+": was not paused"+askedFor("resume", sandbox, names))
	}
	if err := removeFlag(flag); err != nil {
		return err
	}
	if w, err := client.ReadWireFrom(dir, sandbox); err == nil && w.Stopped {
		complainLine(s.Err, "resume", "every wire is stopped all the same; to open them: "+startCommand)
	}
	return nil
}

// removeFlag takes a flag away, whatever lies in its place.
func removeFlag(path string) error {
	if err := os.RemoveAll(path); err != nil {
		return settingsError(err)
	}
	return nil
}

// heldNow says, a line each, which running sandboxes reach nothing just now,
// whatever the rules say.
func heldNow(dir client.SettingsFolder) []string {
	w, err := client.ReadWiresFrom(dir)
	if err != nil {
		return []string{fmt.Sprintf("so say the rules; just now nothing is reached: %v, which counts as a stop", err)}
	}
	if w.Stopped {
		return []string{"so say the rules; just now every wire is stopped, and nothing is reached; to open them again: " + startCommand}
	}
	running, err := client.ReadTrafficFrom(dir, client.StartMarker)
	if err != nil {
		return nil // nothing is known to run
	}
	var lines []string
	for _, p := range w.Paused {
		if slices.ContainsFunc(running, func(t measure.Traffic) bool { return t.Sandbox == p.Sandbox }) {
			lines = append(lines, "so say the rules; just now "+p.Sandbox+" is paused, and reaches nothing; to go on: "+resumeCommand+p.Sandbox)
		}
	}
	if n := len(lines); n > maxAskedFor {
		lines = []string{fmt.Sprintf("so say the rules; just now %d sandboxes are paused, and reach nothing: lnk sandbox paused lists them", n)}
	}
	return lines
}

func pausedWires(s Streams, asJSON bool) error {
	w, err := client.WiresNow()
	if err != nil {
		return err
	}
	if asJSON {
		return client.WriteWires(s.Out, w)
	}
	if w.Stopped {
		fmt.Fprintln(s.Out, "every wire is stopped")
	}
	for _, p := range w.Paused {
		line := p.Sandbox + " is paused"
		if p.Why != "" {
			line += ": " + strings.Join(strings.Fields(p.Why), " ")
		}
		fmt.Fprintln(s.Out, oneLine(line))
	}
	if !w.Stopped && len(w.Paused) == 0 {
		fmt.Fprintln(s.Out, "no wire is stopped or paused")
	}
	return nil
}
