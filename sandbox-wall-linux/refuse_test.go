package linuxwall

import (
	"errors"
	"strings"
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

func TestPlanForRefuses(t *testing.T) {
	for _, c := range []struct {
		name        string
		on          *machine
		net         NetFrom
		change      func(*confinement)
		want        string
		unsupported bool
	}{
		{name: "write of what is not there", on: made(debian), change: func(c *confinement) { c.Write = []string{"/home/u/none"} },
			want: "write: /home/u/none: no such file or folder: make it first"},
		{name: "write below a file", on: made(debian), change: func(c *confinement) { c.Write = []string{"/usr/bin/git/x"} },
			want: "write: /usr/bin/git/x: no such file or folder"},
		{name: "read of what is not there", on: made(debian), change: func(c *confinement) { c.Read = []string{"/none"} },
			want: "read: /none: no such file or folder"},
		{name: "a link to what is not there", on: made(debian + "/home/u/gone -> /none\n"), change: func(c *confinement) { c.Read = []string{"/home/u/gone"} },
			want: "read: /home/u/gone: no such file or folder"},
		{name: "write of everything", on: made(debian), change: func(c *confinement) { c.Write = []string{"/"} },
			want: "write: /: is the whole machine"},
		{name: "hide of everything", on: made(debian), change: func(c *confinement) { c.Hide = []string{"/"} },
			want: "hide: /: is everything"},
		{name: "what is mounted read only", on: made(debian).readOnly("/home/u/work"), want: "write: /home/u/work: is mounted read only"},
		{name: "the machine's processes", on: made(debian + "/proc/1/\n"), change: func(c *confinement) { c.Read = []string{"/proc/1"} },
			want: "read: /proc/1: a sandbox has a /proc of its own"},
		{name: "its own processes, hidden", on: made(debian), change: func(c *confinement) { c.Hide = []string{"/proc"} },
			want: "hide: /proc: a sandbox has a /proc of its own"},
		{name: "its own settings of the kernel, hidden", on: made(debian + "/proc/sys/kernel/x\n"), change: func(c *confinement) { c.Hide = []string{"/proc/sys/kernel"} },
			want: "hide: /proc/sys/kernel: a sandbox has a /proc of its own"},
		{name: "itself, hidden", on: made(debian + "/proc/7/environ\n/proc/self -> 7\n"), change: func(c *confinement) { c.Hide = []string{"/proc/self/environ"} },
			want: "hide: /proc/self/environ: a sandbox has a /proc of its own"},
		{name: "its own devices, hidden", on: made(debian), change: func(c *confinement) { c.Hide = []string{"/dev/null"} },
			want: "hide: /dev/null: a sandbox has a /dev of its own"},
		{name: "the machine's devices", on: made(debian + "/dev/shm/\n"), change: func(c *confinement) { c.Write = []string{"/dev/shm"} },
			want: "write: /dev/shm: a sandbox has a /dev of its own"},
		{name: "a link to the machine's processes", on: made(debian + "/proc/1/\n/home/u/p -> /proc\n"), change: func(c *confinement) { c.Read = []string{"/home/u/p"} },
			want: "read: /home/u/p: a sandbox has a /proc"},
		{name: "the kernel's own", on: made(debian), change: func(c *confinement) { c.Write = []string{"/sys/fs/cgroup"} },
			want: "write: /sys/fs/cgroup: is the kernel's"},
		{name: "all of /run", on: made(debian), change: func(c *confinement) { c.Read = []string{"/run"} },
			want: "read: /run: a sandbox has a /run of its own"},
		{name: "our part of /run", on: made(debian + "/run/lnk/x\n"), change: func(c *confinement) { c.Write = []string{"/run/lnk/x"} },
			want: "write: /run/lnk/x: a sandbox has a /run of its own"},
		{name: "a socket", on: made(debian + "/run/docker.sock =\n"), change: func(c *confinement) { c.Read = []string{"/run/docker.sock"} },
			want: "read: /run/docker.sock: is a socket"},
		{name: "a device", on: made(debian + "/home/u/disk %\n"), change: func(c *confinement) { c.Write = []string{"/home/u/disk"} },
			want: "write: /home/u/disk: is a device"},
		{name: "what cannot be looked at", on: made(debian + "/other/x ?\n"), change: func(c *confinement) { c.Read = []string{"/other/x"} },
			want: "read: /other/x: cannot be looked at"},
		{name: "links in a circle", on: made(debian + "/home/u/a -> b\n/home/u/b -> a\n"), change: func(c *confinement) { c.Read = []string{"/home/u/a"} },
			want: "read: /home/u/a: its links lead in a circle"},
		{name: "hidden links in a circle", on: made(debian + "/home/u/a -> b\n/home/u/b -> a\n"), change: func(c *confinement) { c.Hide = []string{"/home/u/a"} },
			want: "hide: /home/u/a: its links lead in a circle"},

		{name: "write by a link in a write folder", on: made(debian + "/home/u/.ssh/\n/home/u/work/out -> /home/u/.ssh\n"),
			change: func(c *confinement) { c.Write = append(c.Write, "/home/u/work/out") },
			want:   "write: /home/u/work/out: passes the link /home/u/work/out, which the program could have put there since /home/u/work is in write"},
		{name: "read by a link in a write folder", on: made(debian + "/home/u/.ssh/id\n/home/u/work/out -> /home/u/.ssh\n"),
			change: func(c *confinement) { c.Read = []string{"/home/u/work/out/id"} },
			want:   "read: /home/u/work/out/id: passes the link /home/u/work/out"},
		{name: "hide by a link in a write folder", on: made(debian + "/srv/\n/home/u/work/out -> /srv\n"),
			change: func(c *confinement) { c.Hide = []string{"/home/u/work/out"} },
			want:   "hide: /home/u/work/out: passes the link"},
		{name: "by a link in a write folder that a link names", on: made(debian + "/srv/w/out -> /etc\n/home/u/w -> /srv/w\n"),
			change: func(c *confinement) { c.Write, c.Read = []string{"/home/u/w"}, []string{"/home/u/w/out"} },
			want:   "read: /home/u/w/out: passes the link /srv/w/out"},
		{name: "settings by a link in a write folder", on: made(debian).remove("/home/u/.lnk").add("/data/lnk/\n/home/u/.lnk -> /data/lnk\n"),
			change: func(c *confinement) { c.Write = []string{"/home/u"} },
			want:   "settings: /home/u/.lnk: is reached by a link in /home/u"},
		{name: "settings that are a file", on: made(debian).remove("/home/u/.lnk").add("/home/u/.lnk\n"),
			want: "settings: /home/u/.lnk: is a file, not a folder"},
		{name: "home by a link in a write folder", on: made(debian).remove("/home/u").add("/data/u/work/\n/home/u -> /data/u\n").env("LNK_HOME=/srv/lnk").in("/data/u/work"),
			change: func(c *confinement) { c.Write, c.ReadHome = []string{"/home"}, true },
			want:   "/home/u"},

		{name: "a dot file that is a link", on: made(debian + "/home/u/work/.envrc -> ../elsewhere\n"),
			want: "dot files: /home/u/work/.envrc: is a link, which bubblewrap cannot keep from being replaced: put there what it leads to, name the folder in write_dot_files"},
		{name: "a repository that is a link, opened", on: made(debian + "/srv/git/\n/home/u/work/.git -> /srv/git\n"),
			change: func(c *confinement) { c.WriteDotFiles = []string{"/home/u/work/.git"} },
			want:   "dot files: /home/u/work/.git: is a link"},
		{name: "hooks that are a link", on: made(debian + "/home/u/work/.git/hooks -> ../githooks\n"),
			change: func(c *confinement) { c.WriteDotFiles = []string{"/home/u/work/.git"} },
			want:   "dot files: /home/u/work/.git/hooks: is a link"},
		{name: "a config that is a link", on: made(debian + "/home/u/work/.git/config -> ../c\n"),
			change: func(c *confinement) { c.WriteDotFiles = []string{"/home/u/work/.git"} },
			want:   "dot files: /home/u/work/.git/config: is a link"},

		{name: "a temporary folder in the machine's", on: made(debian), change: func(c *confinement) { c.Write, c.TmpPrefix = []string{"/tmp"}, "web-" },
			want: "tmp_prefix: web-: the temporary folder cannot be the sandbox's own, since write names /tmp"},
		{name: "no bubblewrap", on: made(debian).remove(usualBwrap), want: "bubblewrap: not found, install it"},
		{name: "bubblewrap from a write folder", on: made(debian).remove(usualBwrap).add("/home/u/work/bin/bwrap\n").env("PATH=/home/u/work/bin:/usr/bin"),
			want: "bubblewrap: /home/u/work/bin/bwrap: lies in /home/u/work"},
		{name: "bubblewrap by a link in a write folder", on: made(debian).remove(usualBwrap).add("/opt/b/bwrap\n/home/u/work/bin -> /opt/b\n").env("PATH=/home/u/work/bin"),
			want: "bubblewrap: /home/u/work/bin/bwrap: lies in /home/u/work"},
		{name: "a set-user-id bubblewrap", on: made(debian).mode(usualBwrap, 0o4755), want: "bubblewrap: /usr/bin/bwrap: is set-user-id root"},
		{name: "an old bubblewrap", on: made(debian).helps("--size --disable-userns"), unsupported: true,
			want: "bubblewrap: /usr/bin/bwrap: version 0.10.0 lacks --perms: 0.6 or later has them"},
		{name: "our program by a link in a write folder", on: made(debian + "/home/u/work/l -> /usr/bin\n").runs("/home/u/work/l/lnk-sandbox"),
			want: "is reached by a link in /home/u/work"},
		{name: "our program gone", on: made(debian).runs("/usr/bin/lnk-sandbox (deleted)"), want: "the running program's own file is missing"},

		{name: "no mode of the network", on: made(debian), change: func(c *confinement) { c.Net = client.Net{} }, want: "net: no mode"},
		{name: "a network from nowhere", on: made(debian), net: 7, want: "net: NetFrom(7): none of own, given, machine and handed"},
		{name: "closed in a given network", on: made(debian), net: Given, want: "net: closed: wants a network that is own, not given"},
		{name: "proxied in a network of its own", on: made(debian),
			change: func(c *confinement) { c.Net = client.NetOf(client.Proxied{}) }, want: "net: proxied: wants a network that is given, not own"},
		{name: "a given network that leads out", on: made(debian + "/proc/self/net/route: eth0 00000000\n"), net: Given,
			change: func(c *confinement) { c.Net = client.Net{} }, want: "net: given: this network namespace has a route by eth0"},
		{name: "closed on this machine's network", on: made(debian), net: Machine, want: "net: closed: wants a network that is own, not machine"},
		{name: "loopback on this machine's network", on: made(debian), net: Machine,
			change: func(c *confinement) { c.Net = client.NetOf(client.Loopback{Dir: "/d"}) }, want: "net: loopback: wants a network that is given, not machine"},
		{name: "reaching in a network of its own", on: made(debian),
			change: func(c *confinement) { c.Net = client.NetOf(client.Reaching{}) }, want: "net: reaching: wants a network that is given, not own"},
		{name: "host without localhost on this machine's network", on: made(debian), net: Machine,
			change: func(c *confinement) { c.Net = client.NetOf(client.Host{}) }, want: "net: host: wants a network that is given, not machine"},
		{name: "host in a network of its own", on: made(debian),
			change: func(c *confinement) { c.Net = client.NetOf(client.Host{Localhost: true}) }, want: "net: host: wants a network that is machine, not own"},
		{name: "only without Landlock", on: made(debian).withLandlock(0), change: commandsOnly("/usr/bin/git"), want: "it needs Landlock 2 (Linux 5.19) and this kernel has none"},
		{name: "only with the first Landlock", on: made(debian).withLandlock(1), change: commandsOnly("/usr/bin/git"), want: "this kernel has 1"},
		{name: "only what is not there", on: made(debian), change: commandsOnly("/usr/bin/none"), want: "commands: /usr/bin/none: no such file"},
		{name: "only a socket", on: made(debian + "/home/u/work/s =\n"), change: commandsOnly("/home/u/work/s"), want: "commands: /home/u/work/s: is a socket"},
		{name: "only what is not in view", on: made(debian + "/home/u/bin/x\n"), change: commandsOnly("/home/u/bin/x"), want: "is not in view: name it in read too"},
		{name: "only what is hidden", on: made(debian), change: func(c *confinement) { commandsOnly("/usr/bin/git")(c); c.Hide = []string{"/usr/bin/git"} },
			want: "is not in view"},
		{name: "only everything", on: made(debian), change: commandsOnly("/"), want: "commands: /: is everything"},
		{name: "only what is written", on: made(debian), change: commandsOnly("/home/u/work"), want: "the program could put one of its own there"},
		{name: "only what holds what is written", on: made(debian), change: func(c *confinement) { commandsOnly("/home/u")(c); c.Read = []string{"/home/u"} },
			want: "the program could put one of its own there"},
		{name: "only a link in what is written", on: made(debian + "/home/u/work/x -> /usr/bin/git\n"), change: commandsOnly("/home/u/work/x"), want: "passes the link /home/u/work/x"},
		{name: "only a file of two names in what is written", on: made(debian + "/home/u/work/x\n").twice("/home/u/work/x"), change: commandsOnly("/home/u/work/x"), want: "has another name"},
		{name: "only, with libraries that are too many", on: made(debian + "/usr/lib/libc.so.6\n").unread("/usr/lib"), change: commandsOnly("/usr/bin/git"), want: "cannot be told from programs"},

		{name: "a relative path", on: made(debian), change: func(c *confinement) { c.Read = []string{"x"} }, want: "/read/0"},
		{name: "a path that is not clean", on: made(debian), change: func(c *confinement) { c.Hide = []string{"/x/../y"} }, want: "/hide/0"},
		{name: "a newline", on: made(debian), change: func(c *confinement) { c.Write = []string{"/x\ny"} }, want: "/write/0"},
		{name: "a dot file of another folder", on: made(debian), change: func(c *confinement) { c.WriteDotFiles = []string{"/srv/.git"} }, want: "/write_dot_files/0"},
		{name: "no home to read", on: made(debian).homeless(), change: func(c *confinement) { c.Write, c.ReadHome = nil, true },
			want: "read_home: no home folder is known"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.net == 0 {
				c.net = Own
			}
			p, err := c.on.planWith(working(c.change), c.net)
			if err == nil {
				t.Fatalf("not refused:\n%s", p.Explain())
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q, want one with %q", err, c.want)
			}
			if !errors.Is(err, ErrRefused) {
				t.Errorf("error %q is no refusal", err)
			}
			if errors.Is(err, errors.ErrUnsupported) != c.unsupported {
				t.Errorf("error %q: unsupported is not %v", err, c.unsupported)
			}
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("error %q is not one plain line", err)
			}
			if strings.Contains(err.Error(), "fault of ours") {
				t.Errorf("error %q blames us for what its user can change", err)
			}
		})
	}
}

func (m *machine) mode(path string, mode uint32) *machine {
	n := m.nodes[path]
	n.Mode = mode
	m.nodes[path] = n
	return m
}

func (m *machine) helps(help string) *machine {
	m.help = help
	return m
}

func (m *machine) homeless() *machine {
	m.environ, m.texts["/etc/passwd"] = []string{"PATH=/usr/bin"}, ""
	return m
}

// What the facts do not say is our fault, and said to be.
func TestPlanForWithoutFacts(t *testing.T) {
	c := working(nil)
	f, err := readFacts(made(debian).system(), c, Own, Bubblewrap, made(debian).environ)
	if err != nil {
		t.Fatal(err)
	}
	delete(f.Nodes, "/home/u/work/.envrc")
	_, err = PlanFor(c, Own, f, []string{"true"})
	if err == nil || !strings.Contains(err.Error(), "fault of ours") || errors.Is(err, ErrRefused) {
		t.Errorf("error %v, want one that says it is ours", err)
	}
}

func TestReadFactsFails(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name  string
		spoil func(*System)
		want  string
	}{
		{"sockets", func(s *System) { s.SocketTables = func(NetFrom) ([]string, error) { return nil, broken } }, "sockets cannot be listed"},
		{"root only", func(s *System) {
			s.UID, s.RootOnly = 0, func([]string) ([]string, error) { return nil, broken }
		}, "only root may read"},
		{"mounts", func(s *System) {
			text := s.Text
			s.Text = func(path string, limit int) (string, bool) {
				if path == "/proc/self/mountinfo" {
					return "", false
				}
				return text(path, limit)
			}
		}, "mountinfo"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := made(debian)
			sys := m.system()
			c.spoil(sys)
			_, err := readFacts(sys, working(nil), Own, Bubblewrap, m.environ)
			if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, ErrRefused) {
				t.Errorf("error %v, want a refusal with %q", err, c.want)
			}
		})
	}
}

// bubblewrap is asked once for each file that it is, and what was found out
// of other things is left as it is.
func TestReadFactsAsksBwrapOnce(t *testing.T) {
	m := made(debian)
	const ready = "/home/u/.lnk/sandbox/ready.json"
	m.kept[ready] = `{"kernel":{"landlock":7}}`
	read := func() Facts {
		t.Helper()
		f, err := readFacts(m.system(), working(nil), Own, Bubblewrap, m.environ)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for i := range 3 {
		if f := read(); f.Bwrap.Version != "0.10.0" || len(f.Bwrap.Lacks) != 0 || m.asked != 1 {
			t.Fatalf("start %d: %+v, asked %d times", i, f.Bwrap, m.asked)
		}
	}
	if !strings.Contains(m.kept[ready], `"kernel":{"landlock":7}`) {
		t.Errorf("what others kept is gone: %s", m.kept[ready])
	}
	n := m.nodes[usualBwrap]
	for i, change := range []func(*Node){
		func(n *Node) { n.Ino++ }, func(n *Node) { n.Size++ }, func(n *Node) { n.Changed++ }, func(n *Node) { n.Dev++ },
	} {
		change(&n)
		m.nodes[usualBwrap], m.help = n, "--perms"
		if f := read(); m.asked != i+2 || len(f.Bwrap.Lacks) != 4 {
			t.Errorf("change %d: asked %d times, lacks %q", i, m.asked, f.Bwrap.Lacks)
		}
	}
	m.kept[ready] = "not JSON"
	if f := read(); f.Bwrap.Version == "" {
		t.Error("a broken cache is in the way")
	}
}

// What the program could have put there, or what gains privileges, is not run
// to be asked.
func TestReadFactsDoesNotRunPlantedBwrap(t *testing.T) {
	for _, m := range []*machine{
		made(debian).remove(usualBwrap).add("/home/u/work/bwrap\n").env("PATH=/home/u/work"),
		made(debian).remove(usualBwrap).add("/opt/bwrap\n/home/u/work/bin -> /opt\n").env("PATH=/home/u/work/bin"),
		made(debian).mode(usualBwrap, 0o4755),
	} {
		if _, err := readFacts(m.system(), working(nil), Own, Bubblewrap, m.environ); err != nil {
			t.Fatal(err)
		}
		if m.asked != 0 {
			t.Errorf("it was run: %v", m.environ)
		}
	}
}

func TestRefusalShowsPathsPlainly(t *testing.T) {
	for _, c := range []struct{ path, want string }{
		{"/a/b", "write: /a/b: why"},
		{"/a b", `write: "/a b": why`},
		{"/\x1b[2J", `write: "/\x1b[2J": why`},
		{"/\xff", `write: "/\xff": why`},
		{"", "write: why"},
	} {
		if got := refuse("write", c.path, "why", nil).Error(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// commandsOnly changes a confinement to run nothing else.
func commandsOnly(paths ...string) func(*confinement) {
	return func(c *confinement) { c.Commands = client.OnlyCommands(paths...) }
}

func (m *machine) twice(at string) *machine {
	n := m.nodes[at]
	n.Links = 2
	m.nodes[at] = n
	return m
}

func (m *machine) unread(dir string) *machine {
	m.frozen[dir+" unread"] = true
	return m
}
