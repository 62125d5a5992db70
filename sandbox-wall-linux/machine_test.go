package linuxwall

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/survey"
)

// A machine is a made one: what stands where, and who asks.
type machine struct {
	nodes           map[string]Node
	texts           map[string]string
	mountedReadOnly map[string]bool
	frozen          map[string]bool // folders in which nothing can be made
	quiet           map[string]bool // sockets that nobody listens on
	unseen          []string        // folders that the time does not suffice for
	rootOnly        []string
	others          []string // folders that can be shown as others see them
	sockets         string
	program         string
	dir             string
	uid             int
	environ         []string
	help            string
	asked           int // how often bubblewrap was started
	kept            map[string]string
	landlock        int
	version         string
}

// made gives a machine of lines, each a path and what it is:
//
//	/a/b/          a folder
//	/a/c           a file
//	/a/c: text     a file that says text
//	/a/d -> ../e   a link
//	/a/s =         a socket that something listens on
//	/a/n %         a device
//	/a/u ?         what cannot be looked at
//	/a/e 0         a file with nothing in it
//	/a/r !         a file or folder/ that only root may read
//
// Folders above are made, and root owns it all but what is below /home.
func made(lines string) *machine {
	m := &machine{
		nodes: map[string]Node{}, texts: map[string]string{}, frozen: map[string]bool{}, quiet: map[string]bool{}, kept: map[string]string{},
		program: "/usr/bin/lnk-sandbox", uid: 1000, dir: "/home/u/work",
		environ:  []string{"HOME=/home/u", "PATH=/usr/local/bin:/usr/bin:/bin"},
		landlock: 7, version: "bubblewrap 0.10.0\n",
		help: "--perms --size --disable-userns --bind-fd --ro-bind-fd",
	}
	m.put("/", Node{Kind: Folder, Mode: 0o755})
	m.add("/etc/passwd: u:x:1000:1000::/home/u:/bin/sh\nroot:x:0:0::/root:/bin/sh\n/proc/self/mountinfo: 1 0 8:1 / / rw - ext4 /dev/sda1 rw\n/proc/self/net/route: Iface\n")
	m.add(lines)
	return m
}

// debian is a merged-usr system with a person's home.
const debian = `
/usr/bin/bwrap
/usr/bin/lnk-sandbox
/usr/bin/git
/usr/lib/
/usr/lib64/
/bin -> usr/bin
/sbin -> usr/sbin
/usr/sbin/
/lib -> usr/lib
/lib64 -> usr/lib64
/opt/
/etc/hosts: 127.0.0.1 localhost
/etc/resolv.conf: nameserver 192.0.2.1
/sys/fs/cgroup/
/sys/devices/system/cpu/
/var/tmp/
/var/run -> /run
/run/
/tmp/
/dev/null %
/dev/shm/
/proc/
/home/u/.lnk/
/home/u/work/
`

func (m *machine) add(lines string) *machine {
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		n, path, empty := Node{Kind: File, Mode: 0o755}, line, false
		if before, text, ok := strings.Cut(line, ": "); ok {
			path = before
			m.texts[path] += text + "\n"
		} else if before, target, ok := strings.Cut(line, " -> "); ok {
			path, n = before, Node{Kind: Link, Target: target}
		} else if before, mark, ok := strings.Cut(line, " "); ok {
			path = before
			switch mark {
			case "=":
				n = Node{Kind: Socket}
				m.sockets += "0: 0 0 0 1 1 1 " + path + "\n"
			case "%":
				n = Node{Kind: Device}
			case "?":
				n = Node{Kind: Unseen}
			case "0":
				empty = true
			case "!":
				n.Mode = 0o600
				m.rootOnly = append(m.rootOnly, strings.TrimSuffix(path, "/"))
			}
		}
		if dir, ok := strings.CutSuffix(path, "/"); ok {
			path, n.Kind = dir, Folder
		}
		if n.Kind == File && m.texts[path] == "" && !empty {
			m.texts[path] = "\n"
		}
		n.Size = int64(len(m.texts[path]))
		m.put(path, n)
	}
	return m
}

func (m *machine) put(path string, n Node) {
	if old, there := m.nodes[path]; there && old.Kind == n.Kind {
		return
	}
	if path != "/" {
		if up := parent(path); m.nodes[up].Kind != Folder {
			m.put(up, Node{Kind: Folder, Mode: 0o755})
		}
	}
	if within(path, "/home/u") {
		n.UID = uint32(m.uid)
	}
	n.Dev, n.Ino = 1, uint64(len(m.nodes)+1)
	m.nodes[path] = n
}

func (m *machine) remove(path string) *machine {
	for p := range m.nodes {
		if within(p, path) {
			delete(m.nodes, p)
			delete(m.texts, p)
		}
	}
	return m
}

// as makes somebody else ask.
func (m *machine) as(uid int, home string) *machine {
	m.uid = uid
	m.environ = []string{"HOME=" + home, "PATH=/usr/local/bin:/usr/bin:/bin"}
	return m
}

func (m *machine) in(dir string) *machine {
	m.dir = dir
	return m
}

func (m *machine) env(variables ...string) *machine {
	m.environ = append(m.environ, variables...)
	return m
}

// text does not read what the node of is not a file.
func (m *machine) text(path string, limit int) (string, bool) {
	t, ok := m.texts[path]
	if !ok {
		t, ok = m.kept[path]
	}
	return t[:min(len(t), limit)], ok && len(t) <= limit
}

func (m *machine) names(dir string, limit int) ([]string, bool) {
	var found []string
	for p := range m.nodes {
		if p != "/" && parent(p) == dir {
			found = append(found, base(p))
		}
	}
	slices.Sort(found)
	return found[:min(len(found), limit)], len(found) <= limit && m.nodes[dir].Kind == Folder
}

// walk looks below roots as survey.Walk does.
func (m *machine) walk(roots, except []string) survey.Found {
	kinds := map[Kind]survey.Kind{Folder: survey.Folder, File: survey.File, Link: survey.Link, Socket: survey.Socket}
	f := survey.Look(func(dir string) ([]survey.Entry, bool) {
		names, _ := m.names(dir, 1<<20)
		var entries []survey.Entry
		for _, name := range names {
			entries = append(entries, survey.Entry{Name: name, Kind: kinds[m.nodes[join(dir, name)].Kind]})
		}
		return entries, false
	}, survey.Order{Roots: roots, Except: except})
	f.Unseen = append(f.Unseen, m.unseen...)
	return f
}

func (m *machine) namesOf(part survey.Part, files []survey.Inode) survey.Names {
	found := survey.Names{Whole: m.unseen == nil}
	for at, n := range m.nodes {
		in := func(dirs []string) int {
			deepest := -1
			for _, dir := range dirs {
				if within(at, dir) {
					deepest = max(deepest, len(dir))
				}
			}
			return deepest
		}
		if slices.Contains(files, survey.Inode{Dev: n.Dev, Ino: n.Ino}) && in(part.Roots) > in(part.Except) {
			found.Paths = append(found.Paths, at)
		}
	}
	slices.Sort(found.Paths)
	return found
}

func (m *machine) system() *System {
	return &System{
		UID:   m.uid,
		Lstat: func(path string) Node { return m.nodes[path] },
		Names: m.names,
		Text:  m.text,
		Open: func(path string) (io.ReadCloser, int64) {
			text, ok := m.texts[path]
			if !ok {
				return nil, 0
			}
			return io.NopCloser(strings.NewReader(text)), int64(len(text))
		},
		Makeable: func(dir string) bool { return !m.frozen[dir] },
		ReadOnly: func(path string) bool { return m.mountedReadOnly[path] },
		Dir:      func() string { return m.dir },
		Enter:    func(dir string) bool { return m.nodes[dir].Kind != Folder || m.nodes[dir].Mode&anyExecute != 0 },
		Program:  func() (string, Node) { return m.program, m.nodes[m.program] },
		Walk:     m.walk,
		NamesOf:  m.namesOf,
		Answers:  func(path string) bool { return !m.quiet[path] },
		RootOnly: func(shown []string) ([]string, error) {
			return slices.DeleteFunc(slices.Clone(m.rootOnly), func(at string) bool {
				return slices.ContainsFunc(shown, func(s string) bool { return within(at, s) })
			}), nil
		},
		Others: func(folder string) bool { return slices.Contains(m.others, folder) },
		SocketTables: func(NetFrom) ([]string, error) {
			return []string{"Num RefCount Protocol Flags Type St Inode Path\n" + m.sockets}, nil
		},
		Landlock: func() int { return m.landlock },
		Start:    func(path string) Start { return startOf(strings.NewReader(m.texts[path])) },
		Programs: m.programs,
		BwrapHelp: func(string) (string, string, error) {
			m.asked++
			return m.help, m.version, nil
		},
		Keep: func(path, text string) error {
			m.kept[path] = text
			return nil
		},
	}
}

// programs gives the files that are no libraries.
func (m *machine) programs(dir string) ([]string, bool) {
	var found []string
	for p, n := range m.nodes {
		if below(p, dir) && n.Kind == File && !strings.Contains(base(p), ".so") {
			found = append(found, p)
		}
	}
	slices.Sort(found)
	return found, !m.frozen[dir+" unread"]
}

// withLandlock is the machine with a kernel that has this version.
func (m *machine) withLandlock(abi int) *machine {
	m.landlock = abi
	return m
}

// plan makes a confinement's plan on a machine.
func (m *machine) plan(c client.Confinement) (Plan, error) {
	return m.planWith(c, Own)
}

func (m *machine) planWith(c client.Confinement, net NetFrom) (Plan, error) {
	return m.planBy(Bubblewrap, c, net)
}

func (m *machine) planBy(by Maker, c client.Confinement, net NetFrom) (Plan, error) {
	f, err := readFacts(m.system(), c, net, by, m.environ)
	if err != nil {
		return Plan{}, fmt.Errorf("facts: %w", err)
	}
	return PlanFor(c, net, f, []string{"true"})
}

func (m *machine) mustPlan(t *testing.T, c client.Confinement) Plan {
	t.Helper()
	p, err := m.plan(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// working is a confinement that writes /home/u/work, changed by change.
func working(change func(*client.Confinement)) client.Confinement {
	c := client.Confinement{
		Name: "web", Write: []string{"/home/u/work"}, Commands: client.AnyCommand(), Net: client.NetOf(client.Closed{}),
	}
	if change != nil {
		change(&c)
	}
	return c
}

// readOnly has paths of the machine mounted read only.
func (m *machine) readOnly(paths ...string) *machine {
	m.mountedReadOnly = map[string]bool{}
	for _, p := range paths {
		m.mountedReadOnly[p] = true
	}
	return m
}
