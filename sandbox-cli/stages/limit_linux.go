package stages

import (
	"os"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/say"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/launch"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/limits"
)

// limit makes the group that bounds a run, and says what it cannot bound. Nil
// is a run without limits.
func limit(s say.Streams, l client.Limits, c client.Commands) *limits.Group {
	l.Tmp = 0 // bounded by the mounts
	if !l.Any() {
		return nil
	}
	limits.Sweep()
	_, restricted := c.Only()
	g := limits.Make(l, restricted)
	for _, note := range g.Notes() {
		say.ComplainLine(s.Err, "run", note)
	}
	return g
}

// bound has a start held to a group.
func bound(spec *launch.Spec, g *limits.Group) {
	if g != nil {
		spec.Contain = g.Hold
	}
}

// unlimit says what the kernel did about the limits, and removes the group.
func unlimit(s say.Streams, g *limits.Group) error {
	if g == nil {
		return nil
	}
	if why := g.Ended(); why != "" {
		say.ComplainLine(s.Err, "run", why)
	}
	return g.Remove()
}

// dirs are the folders that are to be removed when the wall is killed.
func dirs(g *limits.Group) []string {
	if g == nil {
		return nil
	}
	return g.Dirs()
}

// removeLeft removes the folders of a run that is over.
func removeLeft(folders []string) {
	for _, dir := range folders {
		if err := limits.Remove(dir); err != nil && !os.IsNotExist(err) {
			continue // its processes do not end: the next run with limits tries again
		}
	}
}
