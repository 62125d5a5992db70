package linuxwall

import "strings"

// Covers are the mounts of a sandbox that close something, or keep it as it
// is, by the number that each has for as long as it is there.
//
// The kernel takes a mount away when the file that it stands on is removed or
// replaced from outside (umount(2), since Linux 3.18): an editor that saves
// .envrc under a new name and renames it, or git config outside, does so. What
// stood there is then open to the program. Poll mountinfo for POLLPRI
// (proc_pid_mounts(5)): it wakes when the table changes. What is only renamed
// outside takes its cover along.
type Covers struct {
	// at is where each stands, by its number.
	at map[string]string
	// order is the plan's.
	order []string
}

// Covers finds a plan's covers in a table as /proc/<pid>/mountinfo, of a
// process inside. missing are those that are not there, which are gone already.
func (p *Plan) Covers(mountinfo string) (c Covers, missing []string) {
	numbers := map[string]string{}
	for line := range strings.Lines(mountinfo) {
		if number, point, ok := mountPoint(line); ok {
			numbers[point] = number // the last one at a point is on top
		}
	}
	c.at = map[string]string{}
	for _, at := range p.covers() {
		number, there := numbers[at]
		if !there {
			missing = append(missing, at)
			continue
		}
		c.at[number] = at
		c.order = append(c.order, number)
	}
	return c, missing
}

// Gone gives the places whose cover a later table does not have.
func (c Covers) Gone(mountinfo string) []string {
	there := map[string]bool{}
	for line := range strings.Lines(mountinfo) {
		if number, _, ok := mountPoint(line); ok {
			there[number] = true
		}
	}
	var gone []string
	for _, number := range c.order {
		if !there[number] {
			gone = append(gone, c.at[number])
		}
	}
	return gone
}

// mountPoint reads a line of mountinfo: its first field is the number, its
// fifth the mount point (proc_pid_mountinfo(5)).
func mountPoint(line string) (number, point string, ok bool) {
	f := strings.Fields(line)
	if len(f) < 6 {
		return "", "", false
	}
	return f[0], unescape(f[4]), true
}

// covers gives the mount points of a plan without which the program could do
// more: what is narrower than what is above it.
func (p *Plan) covers() []string {
	v := viewOf(p.Steps)
	var at []string
	for _, s := range p.Steps {
		if s.At == "/" {
			continue
		}
		above := v.deciding(parent(s.At))
		writable := above.Verb == Write || above.Verb == Pin
		switch s.Verb {
		case Close, CloseFile, Tell, Empty, Processes, Devices:
			if above.binds() {
				at = append(at, s.At)
			}
		case Read, Pin:
			if writable {
				at = append(at, s.At)
			}
		}
	}
	return at
}
