// Command lnk is the front of the Link plugins: `lnk <plugin> <args>` runs
// lnk-<plugin>, as git does with its own commands.
package main

import (
	"os"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/front"
	_ "github.com/lnkhq/lnk-sandbox/sandbox-cli/prefault"
)

func main() { os.Exit(front.Main(os.Args[1:], os.Stdout, os.Stderr)) }
