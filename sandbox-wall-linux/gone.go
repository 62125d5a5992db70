package linuxwall

import (
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/procfs"
)

// Covers are the mounts of a sandbox that close something, or keep it as it
// is, by the number that each has for as long as it is there.
//
// The kernel takes a mount away when the file that it stands on is removed or
// replaced from outside (umount(2), since Linux 3.18): an editor that saves
// .envrc under a new name and renames it, or git config outside, does so. What
// stood there is then open to the program. Poll mountinfo for POLLPRI
// (proc_pid_mounts(5)): it wakes when the table changes.
//
// What is renamed outside takes its cover along, and leaves its name open (mv
// .git old; git init). That wakes nobody, but shows in the table: see
// [Plan.Held]. A folder above that is renamed takes all of it along.
type Covers struct {
	// at is where each stands, by its number.
	at map[string]string
	// held is where one stands in the mount above it, which is not to change.
	held map[string]string
	// order is the plan's.
	order []string
}

// Covers finds a plan's covers in a table as /proc/<pid>/mountinfo, of a
// process inside. missing are those that are not there, which are gone already.
func (p *Plan) Covers(mountinfo string) (c Covers, missing []string) {
	table := mountTable(mountinfo)
	numbers := map[string]string{}
	for number, m := range table {
		if on, there := numbers[m.point]; !there || m.line > table[on].line {
			numbers[m.point] = number // the last one at a point is on top
		}
	}
	c.at, c.held = map[string]string{}, map[string]string{}
	for _, s := range p.covers() {
		number, there := numbers[s.At]
		if !there {
			missing = append(missing, s.At)
			continue
		}
		c.at[number] = s.At
		if s.Verb != Pin {
			c.held[number] = table.stands(number)
		}
		c.order = append(c.order, number)
	}
	return c, missing
}

// Held are the paths of this machine that covers stand on by their own names:
// whoever renames one outside opens its name.
func (p *Plan) Held() []string {
	var paths []string
	for _, s := range p.covers() {
		if s.Verb != Pin {
			paths = append(paths, s.At)
		}
	}
	return paths
}

// Gone gives the places that a later table has no cover at.
func (c Covers) Gone(mountinfo string) []string {
	table := mountTable(mountinfo)
	var gone []string
	for _, number := range c.order {
		_, there := table[number]
		if held := c.held[number]; !there || held != "" && held != table.stands(number) {
			gone = append(gone, c.at[number])
		}
	}
	return gone
}

// mountsBy are those of a table, by number.
type mountsBy map[string]mount

type mount struct {
	above string // the number of the one that it is in
	point string
	line  int
}

func mountTable(mountinfo string) mountsBy {
	table := mountsBy{}
	for m := range procfs.Mounts(mountinfo) {
		table[m.ID] = mount{above: m.Above, point: m.Point, line: len(table)}
	}
	return table
}

// stands says where a mount stands in the one above it.
func (table mountsBy) stands(number string) string {
	m := table[number]
	return strings.TrimPrefix(m.point, table[m.above].point)
}

// covers gives the steps of a plan without whose mounts the program could do
// more: what is narrower than what is above it.
func (p *Plan) covers() []Step {
	v := viewOf(p.Steps)
	var covers []Step
	for _, s := range p.Steps {
		if s.At == "/" {
			continue
		}
		above := v.deciding(parent(s.At))
		writable := above.Verb == Write || above.Verb == Pin
		switch s.Verb {
		case Close, CloseFile, Empty, Processes, Devices:
			if above.binds() {
				covers = append(covers, s)
			}
		// What is told in a folder that is only read closes nothing: this
		// machine's own resolv.conf is replaced whenever its network changes.
		case Read, Pin, Tell:
			if writable || s.Others && above.binds() && !above.Others {
				covers = append(covers, s)
			}
		}
	}
	return covers
}
