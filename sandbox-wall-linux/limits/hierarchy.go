package limits

import (
	"path"
	"slices"
	"strconv"
	"strings"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/procfs"
)

// A hierarchy is a tree of cgroups, and where in it this process is.
type hierarchy struct {
	// unified is version 2, which has all controllers in one tree.
	unified bool
	// controllers are those of a version 1 tree.
	controllers []string
	// top is where the tree is mounted, and own the folder of this process.
	top, own string
}

// hierarchies reads the tables /proc/self/cgroup ("id:controllers:path", the
// controllers of version 2 empty) and /proc/self/mountinfo. A tree that is not
// mounted, or mounted so that we are not in what is seen of it, is left out.
func hierarchies(cgroup, mountinfo string) []hierarchy {
	var all []hierarchy
	for line := range strings.Lines(cgroup) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(f) < 3 {
			continue
		}
		h := hierarchy{unified: f[0] == "0" && f[1] == ""}
		if !h.unified {
			h.controllers = strings.Split(f[1], ",")
		}
		for m := range procfs.Mounts(mountinfo) {
			if h.mounted(m, f[2]) {
				all = append(all, h)
				break
			}
		}
	}
	return all
}

// mounted fills in where a tree is, if a mount is of it.
func (h *hierarchy) mounted(m procfs.Mount, at string) bool {
	switch m.Type {
	case "cgroup2":
		if !h.unified {
			return false
		}
	case "cgroup":
		if h.unified || !slices.Contains(strings.Split(m.Options, ","), h.controllers[0]) {
			return false
		}
	default:
		return false
	}
	rest, below := strings.CutPrefix(at, strings.TrimSuffix(m.Root, "/"))
	if !below || rest != "" && rest[0] != '/' {
		return false
	}
	h.top, h.own = m.Point, path.Join(m.Point, rest)
	return true
}

// A write is one file of a group, and what is written there. One that is
// optional may be missing.
type write struct {
	file, value string
	optional    bool
}

// A want is what a limit needs: a controller, and what is written.
type want struct {
	what       string // as a person says it
	controller string
	writes     []write
}

// overhead are the sandbox's own processes in its group: its first one, and
// the step before the program.
const overhead = 1

// wants gives what limits come to. The numbers are those of the kernel's
// Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/.
func wants(l client.Limits, unified bool) []want {
	var all []want
	if l.Memory > 0 {
		m := strconv.FormatInt(l.Memory, 10)
		w := want{"memory", "memory", []write{{"memory.max", m, false}, {"memory.swap.max", "0", true}}}
		if !unified {
			w.writes = []write{{"memory.limit_in_bytes", m, false}, {"memory.memsw.limit_in_bytes", m, true}}
		}
		all = append(all, w)
	}
	if l.Processes > 0 {
		all = append(all, want{"processes", "pids", []write{{"pids.max", strconv.Itoa(l.Processes + overhead), false}}})
	}
	if l.CPU > 0 {
		const period = 100_000 // microseconds, the kernel's own
		quota := strconv.Itoa(l.CPU * period / 100)
		w := want{"cpu", "cpu", []write{{"cpu.max", quota + " " + strconv.Itoa(period), false}}}
		if !unified {
			w.writes = []write{{"cpu.cfs_period_us", strconv.Itoa(period), false}, {"cpu.cfs_quota_us", quota, false}}
		}
		all = append(all, w)
	}
	return all
}

// parents are the folders of a tree in which a group may be made, the nearest
// first. In version 2 a group that holds processes can have no controllers for
// groups below, but for the top of the tree; so it is made beside us.
func (h hierarchy) parents() []string {
	if !h.unified {
		return []string{h.own}
	}
	var all []string
	for dir := h.own; len(dir) > len(h.top); {
		dir = path.Dir(dir)
		all = append(all, dir)
	}
	if len(all) == 0 {
		all = []string{h.own}
	}
	return all
}

// counted reads how often something came about in a group: of memory.events of
// version 2 and memory.oom_control of version 1 (since Linux 4.13) "oom_kill",
// that a process was ended for want of memory; of pids.events "max", that one
// more was refused.
func counted(events, what string) int {
	for line := range strings.Lines(events) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), what+" "); ok {
			count, _ := strconv.Atoi(n)
			return count
		}
	}
	return 0
}

// Size gives a number of bytes as a person writes it.
func Size(n int64) string {
	for i, unit := range []string{"T", "G", "M", "K"} {
		if u := int64(1) << (10 * (4 - i)); n >= u && n%u == 0 {
			return strconv.FormatInt(n/u, 10) + unit
		}
	}
	return strconv.FormatInt(n, 10)
}
