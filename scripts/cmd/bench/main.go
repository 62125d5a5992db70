// Command bench measures, side by side in one run. "start" is how long a
// sandbox takes to start, beside a bare bubblewrap with the same mounts. "proxy"
// is what its network carries, beside the same without a sandbox. "tool" is what a
// call of a tool costs.
package main

import (
	"cmp"
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
	rounds     int // unless it is said
	run        func(ctx context.Context, rounds int) error
}

// only is a part of the names of what is measured, of "proxy"; all if empty.
var only string

var benchmarks = []benchmark{
	{"start", "start a sandbox, run true in it, and be rid of it", 30, start},
	{"proxy", "streams, tunnels and requests from inside a sandbox", 3, proxyBench},
	{"tool", "call a tool that runs outside, beside running it outside", 5, toolBench},
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "calls" {
		if err := callsMain(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "calls:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "load" {
		if err := loadMain(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "load:", err)
			os.Exit(1)
		}
		return
	}
	rounds := flag.Int("n", 0, "how many times each is measured (30 starts, 3 of the proxy, 5 of a tool)")
	flag.StringVar(&only, "only", "", "measure the `lines` alone whose name has this in it (proxy)")
	flag.Usage = func() {
		out := flag.CommandLine.Output()
		fmt.Fprintln(out, "usage: scripts/bench [-n <rounds>] [-only <lines>] <benchmark>")
		for _, b := range benchmarks {
			fmt.Fprintf(out, "  %-8s %s\n", b.name, b.what)
		}
		flag.PrintDefaults()
	}
	flag.Parse()
	at := slices.IndexFunc(benchmarks, func(b benchmark) bool { return b.name == flag.Arg(0) })
	if flag.NArg() != 1 || at < 0 || *rounds < 0 {
		flag.Usage()
		os.Exit(2)
	}
	n := cmp.Or(*rounds, benchmarks[at].rounds)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := benchmarks[at].run(ctx, n); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", strings.TrimSpace(err.Error()))
		stop()
		os.Exit(1)
	}
}
