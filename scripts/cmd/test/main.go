// Command test passes the tests of the whole repository: it installs what they
// need and says so, checks the code, builds it, checks each module alone, and
// runs every test as the user it is started by, again as an ordinary user when
// that is root, and again with the race detector. What reads a hostile
// program's words is fuzzed for a while.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/lnkhq/lnk-sandbox/scripts/internal/suite"
)

func main() {
	if len(os.Args) > 3 && os.Args[1] == suite.As {
		fmt.Fprintln(os.Stderr, "test: as another user:", suite.RunAs(os.Args[2], os.Args[3:]))
		os.Exit(1)
	}
	only := flag.String("only", "", "run these parts, a comma apart: "+strings.Join(names(), ","))
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), `usage: scripts/test [--only <part>,...] [<package>...]

A package is as go test takes it, from the root: ./sandbox-client/... All is the
default. With CI=true or LNK_NO_SKIP=1 a test that is skipped although this
machine could have run it counts as failed.
`)
		flag.PrintDefaults()
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	good := run(ctx, os.Stdout, *only, flag.Args())
	stop()
	if !good {
		os.Exit(1)
	}
}
