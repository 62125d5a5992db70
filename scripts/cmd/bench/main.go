// Command bench measures, side by side in one run. "start" is how long a
// sandbox takes to start, beside a bare bubblewrap with the same mounts.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
)

// A benchmark is one word of the command line.
type benchmark struct {
	name, what string
	run        func(ctx context.Context, rounds int) error
}

var benchmarks = []benchmark{
	{"start", "start a sandbox, run true in it, and be rid of it", start},
}

func main() {
	rounds := flag.Int("n", 30, "how many times each is measured")
	flag.Usage = func() {
		out := flag.CommandLine.Output()
		fmt.Fprintln(out, "usage: scripts/bench [-n <rounds>] <benchmark>")
		for _, b := range benchmarks {
			fmt.Fprintf(out, "  %-8s %s\n", b.name, b.what)
		}
		flag.PrintDefaults()
	}
	flag.Parse()
	at := slices.IndexFunc(benchmarks, func(b benchmark) bool { return b.name == flag.Arg(0) })
	if flag.NArg() != 1 || at < 0 || *rounds < 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := benchmarks[at].run(ctx, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", strings.TrimSpace(err.Error()))
		stop()
		os.Exit(1)
	}
}
