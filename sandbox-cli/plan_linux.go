package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/stages"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/direct"
)

// planFor makes the wall's plan on this machine, with the environment that this
// process has. The mounts of a plan are the same for every network but the
// machine's, so it is asked for as a closed sandbox's: that of a proxied one
// can only be made from inside the network that proxy-inside makes.
func planFor(c client.Confinement, argv []string, set setting) (linuxwall.Plan, error) {
	from, err := linuxwall.NetOf(c.Net)
	if err != nil {
		return linuxwall.Plan{}, err
	}
	if from == linuxwall.Given {
		c.Net, from = client.NetOf(client.Closed{}), linuxwall.Own
	}
	facts, err := linuxwall.ReadFacts(direct.System(nil), c, from, linuxwall.Kernel, stages.FactEnv(os.Environ(), set.home, set.dir))
	if err != nil {
		return linuxwall.Plan{}, err
	}
	return linuxwall.PlanFor(c, from, facts, argv)
}

// kernelMakes says why no sandbox can be made by the kernel's own calls.
func kernelMakes() error { return direct.Probe() }

// readInside says whether a file of this machine's can be read inside.
func readInside(c client.Confinement, set setting, path string) (bool, error) {
	plan, err := planFor(c, []string{"true"}, set)
	if err != nil {
		return false, err
	}
	place, err := plan.Lookup(linuxwall.LocalSystem(), path)
	return err == nil && (place.Access == linuxwall.ReadWrite || place.Access == linuxwall.ReadOnly), err
}

// whyPath asks the plan where a path inside comes from.
func whyPath(c client.Confinement, set setting, path string) (open bool, line string, err error) {
	plan, err := planFor(c, []string{"true"}, set)
	if err != nil {
		return false, "", err
	}
	place, err := plan.Lookup(linuxwall.LocalSystem(), path)
	if err != nil {
		return false, "", err
	}
	because := place.Because.String()
	switch {
	case place.Access == linuxwall.ReadWrite:
		return true, fmt.Sprintf("open     %s: read and written (%s)", path, because), nil
	case place.Access == linuxwall.ReadOnly:
		return true, fmt.Sprintf("open     %s: read only (%s)", path, because), nil
	case place.Access == linuxwall.Private:
		return true, fmt.Sprintf("private  %s: the sandbox's own, gone at its end (%s)", path, because), nil
	case place.Access == linuxwall.Closed:
		return false, fmt.Sprintf("closed   %s: %s", path, because), nil
	}
	// It is not there: what could it be made in?
	for dir := filepath.Dir(path); dir != "/"; dir = filepath.Dir(dir) {
		above, err := plan.Lookup(linuxwall.LocalSystem(), dir)
		if err != nil || above.Access == linuxwall.Absent {
			continue
		}
		switch above.Access {
		case linuxwall.ReadWrite:
			return true, fmt.Sprintf("open     %s: not there, and can be made (%s)", path, above.Because), nil
		case linuxwall.Private:
			if above.Because.Member == "view" && above.Path == dir {
				return false, fmt.Sprintf("closed   %s: not in the sandbox's view: %s stands there; to open it: --read %s, or --write %s", path, above.Because.Text, path, path), nil
			}
		}
		return false, fmt.Sprintf("closed   %s: not there, and cannot be made (%s)", path, above.Because), nil
	}
	return false, fmt.Sprintf("closed   %s: not in the sandbox's view; to open it: --read %s, or --write %s", path, path, path), nil
}
