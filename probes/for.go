package probes

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// For gives the probes of a confinement, in the order in which a check prints
// them.
func For(c client.Confinement, o *Outside) []Probe {
	all := slices.Concat(o.files(c), o.dotFiles(c), o.host(c), kernel(c), commands(c), o.network(c))
	for i := range all {
		if p := &all[i]; p.Missing == "" && p.Attempt.Kind == "" {
			p.Missing = "nothing here to try it on"
		}
	}
	return all
}

// within says whether a path is a folder's, or the folder.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// system are folders that every sandbox reads.
var system = []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/opt", "/nix", "/gnu/store", "/var/lib/ca-certificates"}

// opens says what a confinement opens a path for: the deepest place that names
// it wins, and the settings stay closed.
func (o *Outside) opens(c client.Confinement, path string) (read, write bool) {
	if within(path, o.Settings) {
		return false, false
	}
	deepest := -1
	say := func(dirs []string, r, w bool) {
		for _, dir := range dirs {
			if within(path, dir) && len(dir) >= deepest {
				deepest, read, write = len(dir), r, w
			}
		}
	}
	say(system, true, false)
	if c.ReadHome {
		say([]string{o.Home}, true, false)
	}
	say(c.Hide, false, false)
	say(c.Read, true, false)
	say(c.Write, true, true)
	return read, write
}

func want(opens bool) Want {
	if opens {
		return Opens
	}
	return Closes
}

func (o *Outside) files(c client.Confinement) []Probe {
	var all []Probe
	held := func(name, path string) {
		p := Probe{Name: name}
		if path != "" {
			read, _ := o.opens(c, path)
			p.Want, p.Attempt = want(read), Attempt{Kind: ReadPath, Path: path, Word: o.Word}
		}
		all = append(all, p)
	}
	change := func(name, path string) {
		_, write := o.opens(c, path)
		all = append(all, Probe{Name: name, Want: want(write), Attempt: Attempt{Kind: WritePath, Path: path}})
	}
	held("read a file of lnk's settings", o.inSettings)
	held("read a file in the home folder", o.inHome)
	held("read a file in the temporary folder of this machine", o.inTmp)
	for _, path := range c.Write {
		change("write "+path, path)
	}
	for _, path := range c.Read {
		read, write := o.opens(c, path)
		all = append(all, Probe{Name: "read " + path, Want: want(read), Attempt: Attempt{Kind: OpenPath, Path: path}})
		if !write {
			change("write "+path, path)
		}
	}
	for _, path := range c.Hide {
		if read, _ := o.opens(c, path); read {
			continue
		}
		p := Probe{Name: "hide " + path, Attempt: Attempt{Kind: ReadPath, Path: path}}
		if _, err := os.Lstat(path); err != nil {
			p.Attempt.Kind = Plant
		} else if r := readPath(path, ""); !r.Did {
			p.Missing = "outside it is no more than inside: " + r.Detail
		}
		all = append(all, p)
	}
	for _, path := range o.kept(c) {
		all = append(all, Probe{Name: "move " + path, Attempt: Attempt{Kind: Move, Path: path}})
	}
	if o.inHome != "" { // an empty home stands in the place of the user's
		change("write a file in the home folder", o.inHome)
	}
	change("write in /usr", "/usr")
	change("write in /etc", "/etc")
	if os.Geteuid() == 0 {
		all = append(all, Probe{Name: "read what only root may, /etc/shadow", Attempt: Attempt{Kind: ReadPath, Path: "/etc/shadow"}})
	}
	return all
}

// kept are folders that another name would take out of what is said of them:
// those that are written, and those between one and a closed place below it.
func (o *Outside) kept(c client.Confinement) []string {
	var all []string
	for _, dir := range c.Write {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			continue
		}
		all = append(all, dir)
		for _, hidden := range c.Hide {
			for up := filepath.Dir(hidden); within(up, dir) && up != dir; up = filepath.Dir(up) {
				if _, err := os.Lstat(up); err == nil && !slices.Contains(all, up) {
					all = append(all, up)
				}
			}
		}
	}
	return all
}

// dotFiles tries those at the top of each folder that is written.
func (o *Outside) dotFiles(c client.Confinement) []Probe {
	var all []Probe
	for _, dir := range c.Write {
		info, err := os.Stat(dir)
		if err != nil || !info.IsDir() || slices.Contains(client.DotFiles(), filepath.Base(dir)) {
			continue
		}
		for _, name := range client.DotFiles() {
			path := filepath.Join(dir, name)
			if read, _ := o.opens(c, path); !read {
				continue // hidden, which is tried by itself
			}
			open := slices.Contains(c.WriteDotFiles, dir)
			if _, err := os.Lstat(path); err == nil || name != ".git" { // a .git that is named by itself is opened, and not made
				open = open || slices.Contains(c.WriteDotFiles, path) || slices.Contains(c.Write, path)
			}
			all = append(all, Probe{Name: "write " + path, Want: want(open), Attempt: Attempt{Kind: Plant, Path: path}})
		}
	}
	return all
}

// host tries what else of this machine there is.
func (o *Outside) host(c client.Confinement) []Probe {
	all := []Probe{{Name: "see a process of this machine"}, {Name: "open a disk"}, {Name: "call a socket in a written folder"}, {Name: "call an abstract socket"}}
	if o.started != "" {
		all[0].Attempt = Attempt{Kind: SeeProcess, Process: o.process, Started: o.started}
	}
	if o.disk != "" {
		all[1].Attempt = Attempt{Kind: ReadPath, Path: o.disk}
	}
	if o.socket != "" {
		all[2].Attempt = Attempt{Kind: DialUnix, Path: o.socket, Word: o.Word}
	}
	if o.abstract != "" {
		all[3].Attempt = Attempt{Kind: DialUnix, Path: o.abstract, Word: o.Word}
		all[3].Want = left(c.Net)
		if all[3].Want == Leaves && o.scoped() {
			all[3].Want = Closes
		}
	}
	return all
}

// scoped says whether the kernel can hold abstract sockets apart where the
// network is shared: from Linux 6.12 on (landlock(7), LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET).
func (o *Outside) scoped() bool {
	b, err := os.ReadFile("/proc/sys/kernel/osrelease")
	major, rest, _ := strings.Cut(string(b), ".")
	minor, _, _ := strings.Cut(rest, ".")
	x, e1 := strconv.Atoi(major)
	y, e2 := strconv.Atoi(minor)
	return err == nil && e1 == nil && e2 == nil && (x > 6 || x == 6 && y >= 12)
}

// left is what a network says of what it does not name.
func left(n client.Net) Want {
	if h, is := n.Mode().(client.Host); is && h.Localhost {
		return Leaves
	}
	return Closes
}

// asked are the names of what is asked of the kernel, and what they are called.
var asked = [][2]string{
	{"userns", "make a user namespace"}, {"mount", "mount a file system"}, {"uring", "make an io_uring"}, {"bpf", "load a BPF program"},
	{"keys", "add a key to a keyring"}, {"perf", "watch events of the processor"}, {"raw", "open a raw socket"}, {"packet", "open a packet socket"},
	{"vsock", "open a vsock socket"}, {"privileges", "gain new privileges"}, {"capabilities", "have a capability"},
}

func kernel(c client.Confinement) []Probe {
	var all []Probe
	for _, a := range asked {
		all = append(all, Probe{Name: a[1], Attempt: Attempt{Kind: Kernel, Path: a[0]}})
	}
	return append(all, Probe{Name: "trace a process of its own", Want: want(c.DeveloperTools), Attempt: Attempt{Kind: Kernel, Path: "trace"}})
}

func commands(c client.Confinement) []Probe {
	_, only := c.Commands.Only()
	return []Probe{
		{Name: "execute a program that it made", Want: want(!only), Attempt: Attempt{Kind: Execute}},
		{Name: "execute a program from memory", Want: want(!only), Attempt: Attempt{Kind: Memory}},
	}
}
