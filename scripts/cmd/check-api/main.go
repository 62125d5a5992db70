// Command check-api compares what each released module exports with what its
// last release exported. A break fails, unless the version on top of the
// module's changelog is one that may break.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/lnkhq/lnk-sandbox/scripts/internal/api"
	"github.com/lnkhq/lnk-sandbox/scripts/internal/workspace"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	good, err := check(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "check-api:", err)
	}
	if !good || err != nil {
		stop()
		os.Exit(1)
	}
}

func check(ctx context.Context) (good bool, err error) {
	w, err := workspace.Find(".")
	if err != nil {
		return false, err
	}
	comparer, err := api.NewComparer(ctx, w)
	if err != nil {
		return false, err
	}
	good = true
	for _, m := range w.Modules {
		if !m.Released() {
			continue
		}
		report, err := comparer.Compare(ctx, m)
		if err == nil {
			err = report.Err()
		}
		switch {
		case err != nil:
			fmt.Printf("FAIL %s: %v\n", m.Folder, err)
			good = false
		case report.Last == "":
			fmt.Printf("ok   %s: no tag yet, so nothing to compare with\n", m.Folder)
		case report.Breaks != "":
			fmt.Printf("ok   %s: %s breaks what %s promised, as its version says:\n%s\n", m.Folder, report.Next, report.Last, report.Breaks)
		default:
			fmt.Printf("ok   %s: keeps what %s promised\n", m.Folder, report.Last)
		}
	}
	return good, nil
}
