// Command release tags what the changelogs say is to be released. It changes
// nothing unless --do is given, and pushes nothing: see RELEASING.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/lnkhq/lnk-sandbox/scripts/internal/alone"
	"github.com/lnkhq/lnk-sandbox/scripts/internal/api"
	"github.com/lnkhq/lnk-sandbox/scripts/internal/release"
	"github.com/lnkhq/lnk-sandbox/scripts/internal/workspace"
)

func main() {
	do := flag.Bool("do", false, "make the tags; without it, only say which")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *do); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, do bool) error {
	w, err := workspace.Find(".")
	if err != nil {
		return err
	}
	comparer, err := api.NewComparer(ctx, w)
	if err != nil {
		return err
	}
	plan, err := release.Make(ctx, w,
		func(ctx context.Context, m workspace.Module) error { return alone.Check(ctx, w, m) },
		func(ctx context.Context, m workspace.Module) error {
			report, err := comparer.Compare(ctx, m)
			if err != nil {
				return err
			}
			return report.Err()
		})
	if err != nil {
		return err
	}
	fmt.Printf("commit %.12s\n", plan.Commit)
	for _, tag := range plan.Tags {
		fmt.Println("tag    " + tag.Name)
	}
	for _, problem := range plan.Problems {
		fmt.Println("not yet: " + problem)
	}
	switch {
	case len(plan.Problems) > 0:
		return fmt.Errorf("%d things stand in the way", len(plan.Problems))
	case len(plan.Tags) == 0:
		fmt.Println("nothing is to be released")
		return nil
	case !do:
		fmt.Println("a dry run: --do makes the tags")
		return nil
	}
	if err := plan.Do(ctx, w); err != nil {
		return err
	}
	fmt.Println("tagged; what is left to do: " + plan.PushCommand())
	return nil
}
