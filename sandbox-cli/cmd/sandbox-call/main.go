// Command sandbox-call stands inside a sandbox under the names of tools that run
// outside, and calls them. The wall puts it there where it stands beside
// lnk-sandbox; nobody else needs to start it.
package main

import (
	"fmt"
	"os"

	_ "github.com/lnkhq/lnk-sandbox/sandbox-cli/prefault"
	"github.com/lnkhq/lnk-sandbox/sandbox-cli/shim"
)

func main() {
	call, is := shim.Called(os.Args)
	if !is {
		fmt.Fprintln(os.Stderr, "lnk sandbox: "+shim.Binary+" calls a tool that runs outside, inside a sandbox and by the tool's name: this is none, or the tool's variable is not set")
		os.Exit(shim.StatusRefused)
	}
	os.Exit(call.Run())
}
