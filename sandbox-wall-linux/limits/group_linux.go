package limits

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/procfs"
)

// A Group holds one sandbox to its limits.
type Group struct {
	limits client.Limits
	// dirs are its folders: one, or in version 1 one a controller.
	dirs []string
	// memory is the file that counts who was ended for want of memory, and pids
	// the folder of those that count who was not let be another process.
	memory, pids string
	// data and processes are resource limits instead; 0 is none.
	data, processes uint64
	notes           []string
}

// maxTable bounds a table of /proc.
const maxTable = 4 << 20

// What a step of ours inside, before the program, needs to start: a Go program
// is several threads, and writes little to much memory that it reserves.
const (
	stageProcesses = 24
	stageData      = 256 << 20
)

// Make makes a group for limits, or less of one: see [Group.Notes]. staged is
// whether a step of ours comes before the program.
func Make(l client.Limits, staged bool) *Group {
	cgroup, mountinfo := table("/proc/self/cgroup"), table("/proc/self/mountinfo")
	var raised []string
	if staged && 0 < l.Processes && l.Processes < stageProcesses {
		l.Processes = stageProcesses
		raised = append(raised, fmt.Sprintf("processes: %d, the least that restricted commands start with", stageProcesses))
	}
	g := makeIn(l, hierarchies(cgroup, mountinfo), os.Geteuid())
	if staged && 0 < g.data && g.data < stageData {
		g.data = stageData
		raised = append(raised, "memory: "+Size(stageData)+", the least that restricted commands start with")
	}
	g.notes = append(g.notes, raised...)
	return g
}

func table(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxTable))
	if err != nil {
		return ""
	}
	return string(text)
}

func makeIn(l client.Limits, trees []hierarchy, uid int) *Group {
	g := &Group{limits: l}
	name := groupName()
	for _, h := range trees {
		var mine []want
		for _, w := range g.missing(h.unified) {
			if h.unified || slices.Contains(h.controllers, w.controller) {
				mine = append(mine, w)
			}
		}
		if len(mine) > 0 {
			g.makeBelow(h, mine, name, uid)
		}
	}
	g.instead(uid)
	return g
}

// missing are the limits that no folder of the group holds yet, as a version
// of cgroups writes them.
func (g *Group) missing(unified bool) []want {
	holds := func(w want) bool {
		return slices.ContainsFunc(g.dirs, func(dir string) bool { return g.has(dir, w) })
	}
	var all []want
	first, second := wants(g.limits, true), wants(g.limits, false)
	for i := range first {
		switch {
		case holds(first[i]) || holds(second[i]):
		case unified:
			all = append(all, first[i])
		default:
			all = append(all, second[i])
		}
	}
	return all
}

// has says whether a folder has the files of a limit.
func (g *Group) has(dir string, w want) bool {
	return slices.ContainsFunc(w.writes, func(f write) bool {
		_, err := os.Stat(filepath.Join(dir, f.file))
		return err == nil
	})
}

// makeBelow makes the group's folder in the first parent that has all
// controllers; failing that, in the one that has most.
func (g *Group) makeBelow(h hierarchy, mine []want, name string, uid int) {
	best, most := "", 0
	for _, parent := range h.parents() {
		if h.unified && uid != 0 && unix.Access(filepath.Join(parent, "cgroup.procs"), unix.W_OK) != nil {
			continue // nobody could be moved there
		}
		if h.unified && uid == 0 && parent == h.top {
			for _, w := range mine { // as systemd does
				_ = put(filepath.Join(parent, "cgroup.subtree_control"), "+"+w.controller)
			}
		}
		dir := filepath.Join(parent, name)
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		n := 0
		for _, w := range mine {
			if g.has(dir, w) {
				n++
			}
		}
		if n <= most {
			os.Remove(dir)
			continue
		}
		if best != "" {
			os.Remove(best)
		}
		if best, most = dir, n; n == len(mine) {
			break
		}
	}
	if best == "" {
		return
	}
	for _, w := range mine {
		if !g.has(best, w) {
			continue
		}
		for _, f := range w.writes {
			if err := put(filepath.Join(best, f.file), f.value); err != nil && !f.optional {
				g.notes = append(g.notes, fmt.Sprintf("%s: not limited: %v", w.what, err))
			}
		}
		if w.controller == "memory" {
			g.memory = filepath.Join(best, map[bool]string{true: "memory.events", false: "memory.oom_control"}[h.unified])
		}
		if w.controller == "pids" {
			g.pids = best
		}
	}
	g.dirs = append(g.dirs, best)
}

// instead decides what is done about limits that no cgroup holds.
func (g *Group) instead(uid int) {
	for _, w := range g.missing(true) {
		no := "no cgroup can be made here: run it as root, or in a session of systemd's"
		if uid == 0 {
			no = "no cgroup can be made here: have /sys/fs/cgroup mounted, so that it can be written"
		}
		switch w.controller {
		case "memory":
			g.data = uint64(g.limits.Memory)
			g.notes = append(g.notes, "memory: "+Size(g.limits.Memory)+" for each process, and not together: "+no)
		case "pids":
			if uid == 0 {
				g.notes = append(g.notes, "processes: not limited: "+no)
				continue
			}
			g.processes = uint64(g.limits.Processes + overhead)
		default:
			g.notes = append(g.notes, w.what+": not limited: "+no)
		}
	}
}

// put writes a file of a cgroup. It must be there.
func put(file, value string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// Notes say what is held less than it was asked for, a line each.
func (g *Group) Notes() []string { return g.notes }

// Dirs are the folders of the group.
func (g *Group) Dirs() []string { return g.dirs }

// Hold puts a process into the group, and with it all that it starts from then
// on.
func (g *Group) Hold(pid int) error {
	if g.limits.CPU > 0 {
		if err := shared(pid); err != nil {
			return fmt.Errorf("limits: %w", err)
		}
	}
	for _, dir := range g.dirs {
		if err := put(filepath.Join(dir, "cgroup.procs"), strconv.Itoa(pid)); err != nil {
			return fmt.Errorf("limits: %w", err)
		}
	}
	for resource, limit := range g.resources() {
		if err := unix.Prlimit(pid, resource, &unix.Rlimit{Cur: limit, Max: limit}, nil); err != nil {
			return fmt.Errorf("limits: %w", err)
		}
	}
	return nil
}

// resources are the limits of each process.
func (g *Group) resources() map[int]uint64 {
	all := map[int]uint64{}
	if g.data > 0 {
		all[unix.RLIMIT_DATA] = g.data
	}
	if g.processes > 0 {
		all[unix.RLIMIT_NPROC] = g.processes
	}
	if g.limits.CPU > 0 {
		all[unix.RLIMIT_RTPRIO] = 0
	}
	return all
}

// Reached says which limits the kernel had to keep, a line each. It is asked
// before [Group.Remove].
func (g *Group) Reached() (lines []string) {
	if g.memory != "" {
		if n := counted(table(g.memory), "oom_kill"); n > 0 {
			lines = append(lines, fmt.Sprintf("out of memory: limit %s: processes that were killed for it: %d", Size(g.limits.Memory), n))
		}
	}
	if g.pids != "" {
		n := counted(table(filepath.Join(g.pids, "pids.events")), "max")
		if n > 0 && !g.fewer() {
			lines = append(lines, fmt.Sprintf("out of processes: limit %d: times that one more was refused: %d", g.limits.Processes, n))
		}
	}
	return lines
}

// fewer says whether there were never as many processes as the limit lets there
// be. Until Linux 6.11 those are counted too that a group above refuses; how many
// there were is told from 6.6 on.
func (g *Group) fewer() bool {
	peak, err := strconv.Atoi(strings.TrimSpace(table(filepath.Join(g.pids, "pids.peak"))))
	return err == nil && peak < g.limits.Processes+overhead
}

// removePatience bounds the wait for the kernel to be done with processes that
// have ended.
const removePatience = 2 * time.Second

// Remove removes the group. Its processes have ended.
func (g *Group) Remove() error {
	var left error
	for _, dir := range g.dirs {
		left = errors.Join(left, Remove(dir))
	}
	return left
}

// Remove removes one folder of a group, once its processes are gone.
func Remove(dir string) error {
	for deadline := time.Now().Add(removePatience); ; time.Sleep(5 * time.Millisecond) {
		err := unix.Rmdir(dir)
		if err == nil || err == unix.ENOENT {
			return nil
		}
		if err != unix.EBUSY || time.Now().After(deadline) {
			return fmt.Errorf("limits: %s: %w", dir, err)
		}
	}
}

// namePrefix starts the names of groups; the maker's number and its start
// follow.
const namePrefix = "lnk-sandbox-"

func groupName() string {
	pid := os.Getpid()
	return namePrefix + strconv.Itoa(pid) + "-" + started(pid)
}

// started is when a process was started, in clock ticks since the boot: with
// its number it is that process and no other. "" is one that is gone.
func started(pid int) string {
	f := procfs.Stat(table("/proc/" + strconv.Itoa(pid) + "/stat"))
	if len(f) < 20 {
		return ""
	}
	return f[19] // the 22nd of all (proc_pid_stat(5))
}

// Sweep removes the groups, where this process would make one, whose makers
// are gone.
func Sweep() {
	for _, h := range hierarchies(table("/proc/self/cgroup"), table("/proc/self/mountinfo")) {
		for _, parent := range h.parents() {
			left, _ := filepath.Glob(parent + "/" + namePrefix + "*")
			for _, dir := range left {
				pid, start, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), namePrefix), "-")
				if n, err := strconv.Atoi(pid); err == nil && started(n) != start {
					_ = unix.Rmdir(dir) // it is empty, or its processes are on their way out
				}
			}
		}
	}
}
