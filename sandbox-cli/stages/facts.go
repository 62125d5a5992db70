package stages

import (
	"strings"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// FactEnv is an environment in which the home and the settings folder are the
// caller's, whatever the program's own environment says.
func FactEnv(env []string, home, settings string) []string {
	out := make([]string, 0, len(env)+2)
	for _, v := range env {
		if !strings.HasPrefix(v, "HOME=") && !strings.HasPrefix(v, client.HomeVariable+"=") {
			out = append(out, v)
		}
	}
	return append(out, "HOME="+home, client.HomeVariable+"="+settings)
}
