// Command sandbox-wall is the part of lnk-sandbox that goes on behind the proxy.
// lnk-sandbox starts it where it stands beside it; nobody else needs to.
package main

import (
	"os"

	_ "github.com/lnkhq/lnk-sandbox/sandbox-cli/prefault"
	"github.com/lnkhq/lnk-sandbox/sandbox-cli/say"
	"github.com/lnkhq/lnk-sandbox/sandbox-cli/stages"
)

func main() {
	if status, is := stages.Shim(os.Args); is {
		os.Exit(status)
	}
	os.Exit(stages.Main(say.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Args[1:]))
}
