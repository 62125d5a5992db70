package stages

import (
	"os"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/say"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
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

// bound has a start held to the limits, and its file systems that are bounded
// watched.
func (w *walling) bound(spec *launch.Spec, plan *linuxwall.Plan) {
	size := w.limits.Tmp
	if w.group == nil && size == 0 {
		return
	}
	spec.Contain = func(pid int) error {
		w.room.Close()
		if w.room = nil; size > 0 {
			w.room = limits.HoldRoom(pid, size, plan.Bounded())
		}
		if w.group == nil {
			return nil
		}
		return w.group.Hold(pid)
	}
}

// unlimit says which limits were reached, as far as it can be known, and removes
// the group.
func (w *walling) unlimit() error {
	defer w.room.Close()
	var reached []string
	if w.group != nil {
		reached = w.group.Reached()
	}
	if full := w.room.Full(); full != "" {
		reached = append(reached, full)
	}
	for _, line := range reached {
		say.ComplainLine(w.Err, "run", line)
	}
	if w.group == nil {
		return nil
	}
	return w.group.Remove()
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
