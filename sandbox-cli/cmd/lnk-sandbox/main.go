// Command lnk-sandbox confines a program and gives it one way out. People reach
// it as `lnk sandbox`.
package main

import (
	"os"

	cli "github.com/lnkhq/lnk-sandbox/sandbox-cli"
	_ "github.com/lnkhq/lnk-sandbox/sandbox-cli/prefault"
	"github.com/lnkhq/lnk-sandbox/sandbox-cli/stages"
)

func main() {
	if status, is := stages.Shim(os.Args); is {
		os.Exit(status)
	}
	os.Exit(cli.Main(os.Args[1:]))
}
