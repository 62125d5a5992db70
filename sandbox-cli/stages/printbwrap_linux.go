package stages

import (
	"io"

	"github.com/go-json-experiment/json"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/launch"
)

// printBwrap prints the command of a plan as a JSON array, for a comparison
// with a bare bubblewrap. Its descriptors are numbered as they would be; none
// is open.
func printBwrap(w io.Writer, plan linuxwall.Plan) error {
	argv := append([]string{plan.Bwrap}, plan.BwrapArgs(launch.FirstFile)...)
	line, err := json.Marshal(append(append(argv, "--"), plan.Argv...))
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}
