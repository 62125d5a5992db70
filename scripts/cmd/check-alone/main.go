// Command check-alone checks each module as it is without the workspace: that
// it vets and builds for Linux and macOS, and that its go.mod is tidy.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"

	"github.com/lnkhq/lnk-sandbox/scripts/internal/alone"
	"github.com/lnkhq/lnk-sandbox/scripts/internal/workspace"
)

func main() {
	fix := flag.Bool("fix", false, "tidy go.mod and go.sum first")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: scripts/check-alone [--fix] [<module>]...")
		flag.PrintDefaults()
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if !run(ctx, *fix, flag.Args()) {
		stop()
		os.Exit(1)
	}
}

// run checks the modules named, or all, and says whether each passed.
func run(ctx context.Context, fix bool, names []string) bool {
	w, err := workspace.Find(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "check-alone:", err)
		return false
	}
	for _, name := range names {
		if !slices.ContainsFunc(w.Modules, func(m workspace.Module) bool { return m.Folder == name }) {
			fmt.Fprintf(os.Stderr, "check-alone: %s: no module of go.work\n", name)
			return false
		}
	}
	good := true
	for _, m := range w.Modules {
		if len(names) > 0 && !slices.Contains(names, m.Folder) {
			continue
		}
		var err error
		if fix {
			err = alone.Fix(ctx, w, m)
		}
		if err == nil {
			err = alone.Check(ctx, w, m)
		}
		if err != nil {
			fmt.Printf("FAIL %s\n%v\n", m.Folder, err)
			good = false
			continue
		}
		fmt.Printf("ok   %s\n", m.Folder)
	}
	return good
}
