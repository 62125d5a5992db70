package stages

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/say"
)

// A Stage is one step of a start. It is given its own arguments and gives the
// status its process ends with.
type Stage func(s say.Streams, args []string) (int, error)

// All are the steps that run behind the proxy, by the word that starts each.
// `wrap` writes them and people need not know them.
var All = map[string]Stage{
	"proxy-inside": proxyInside,
	"handed":       handed,
	"wall":         wall,
	"noexec":       noexecStage,
	"inside":       insideStage,
	"sweep":        sweep,
	"connect":      connect,
}

// binary is the name of the program that holds these steps and nothing else. It
// stands beside lnk-sandbox, which holds them too: that one starts in twice the
// time, for all that a proxy needs.
const binary = "sandbox-wall"

// Beside gives the program that runs these steps for the lnk-sandbox whose path
// is self: binary in the same folder, or self where that is not there.
func Beside(self string) string {
	path := filepath.Join(filepath.Dir(self), binary)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
		return path
	}
	return self
}

// Main runs `sandbox-wall <stage> <args>` and gives its exit status.
func Main(s say.Streams, args []string) int {
	if len(args) > 0 {
		if stage, ok := All[args[0]]; ok {
			return Run(s, stage, args[1:])
		}
	}
	say.Complain(s.Err, "run", fmt.Errorf("%s is a part of lnk sandbox, which starts it: use `lnk sandbox run`; inside a sandbox none can be made", binary))
	return say.StatusRefused
}

// Run runs one step of a start; its failures are failures to set up. They are
// told as run's: whoever started the chain asked for a run, by that name or by
// wrap's command, and need not know its steps.
func Run(s say.Streams, run Stage, args []string) int {
	status, err := run(s, args)
	if err == nil {
		return status
	}
	say.Complain(s.Err, "run", err)
	if status != 0 {
		return status
	}
	if c := say.StatusOf(err); c != say.StatusFailed {
		return c
	}
	return say.StatusSetup
}
