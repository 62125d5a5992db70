package stages

import (
	"encoding/json"
	"io"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/launch"
)

// printBwrap prints the command of a plan as a JSON array, for a comparison
// with a bare bubblewrap. Its descriptors are numbered as they would be; none
// is open.
func printBwrap(w io.Writer, plan linuxwall.Plan) error {
	argv := append([]string{plan.Bwrap}, plan.BwrapArgs(launch.FirstFile)...)
	return json.NewEncoder(w).Encode(append(append(argv, "--"), plan.Argv...))
}
