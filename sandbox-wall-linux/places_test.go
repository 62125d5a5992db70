package linuxwall

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// Who decides where several members speak of one path.
func TestWhoDecides(t *testing.T) {
	const files = "/home/u/work/a/b/c/file\n/home/u/notes/n\n"
	for _, c := range []struct {
		name   string
		change func(*confinement)
		want   map[string]Access
	}{
		{"the deepest", func(c *confinement) {
			c.Hide, c.Read = []string{"/home/u/work/a"}, []string{"/home/u/work/a/b"}
			c.Write = append(c.Write, "/home/u/work/a/b/c")
		}, map[string]Access{"/home/u/work": ReadWrite, "/home/u/work/a": Closed, "/home/u/work/a/b": ReadOnly, "/home/u/work/a/b/c/file": ReadWrite}},
		{"write over read", func(c *confinement) { c.Read = []string{"/home/u/work"} }, map[string]Access{"/home/u/work/a": ReadWrite}},
		{"write over hide", func(c *confinement) { c.Hide = []string{"/home/u/work"} }, map[string]Access{"/home/u/work/a": ReadWrite}},
		{"read over hide", func(c *confinement) { c.Read, c.Hide = []string{"/home/u/notes"}, []string{"/home/u/notes"} }, map[string]Access{"/home/u/notes/n": ReadOnly}},
		{"hide over read_home", func(c *confinement) { c.ReadHome, c.Hide = true, []string{"/home/u"} },
			map[string]Access{"/home/u/notes/n": Absent, "/home/u/work": ReadWrite}},
		{"hide above read_home", func(c *confinement) { c.Write, c.ReadHome, c.Hide = nil, true, []string{"/home"} },
			map[string]Access{"/home/u/notes/n": Absent}},
		{"hide above a system folder", func(c *confinement) { c.Read, c.Hide = []string{"/"}, []string{"/sys"} },
			map[string]Access{"/sys/fs/cgroup": Closed, "/usr/bin/git": ReadOnly}},
		{"write above read_home", func(c *confinement) { c.Write, c.ReadHome = []string{"/home"}, true },
			map[string]Access{"/home/u/notes/n": ReadWrite, "/home/u/.lnk": Closed}},
		{"settings over all", func(c *confinement) {
			c.Write, c.Read = []string{"/home/u", "/home/u/.lnk"}, []string{"/home/u/.lnk/x"}
		},
			map[string]Access{"/home/u/.lnk": Closed, "/home/u/.lnk/x": Closed}},
		{"hide in what is the sandbox's own", func(c *confinement) { c.Hide = []string{"/home/u/notes", "/tmp/x"} },
			map[string]Access{"/home/u/notes": Closed, "/tmp/x": Closed, "/home/u": Private}},
		{"what the machine has in a temporary folder", func(c *confinement) { c.Read = []string{"/var/tmp"} }, map[string]Access{"/var/tmp": ReadOnly, "/tmp": Private}},
		{"a folder that holds our own", func(c *confinement) { c.Read = []string{"/var"} }, map[string]Access{"/var": ReadOnly, "/var/tmp": Private}},
		{"a system folder to write", func(c *confinement) { c.Write = []string{"/opt"} }, map[string]Access{"/opt": ReadWrite, "/usr": ReadOnly}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := made(debian + files + "/home/u/.lnk/x\n")
			p := m.mustPlan(t, working(c.change))
			for path, want := range c.want {
				got, err := p.Lookup(m.system(), path)
				if err != nil || got.Access != want {
					t.Errorf("%s is %s (%s), want %s, %v\n%s", path, got.Access, got.Because, want, err, p.Explain())
				}
			}
		})
	}
}

// A write folder that is somebody else's is told of, where its mode lets the
// program make nothing there.
func TestWriteOfAnother(t *testing.T) {
	for _, c := range []struct {
		uid, owner, group int
		mode              uint32
		frozen            bool
		told              bool
	}{
		{uid: 0, owner: 0, mode: 0o755},
		{uid: 0, owner: 1000, group: 1000, mode: 0o755, told: true},
		{uid: 0, owner: 1000, group: 1000, mode: 0o775, told: true},
		{uid: 0, owner: 1000, mode: 0o775},
		{uid: 0, owner: 1000, mode: 0o755, told: true},
		{uid: 0, owner: 1000, group: 1000, mode: 0o1777},
		{uid: 1000, owner: 1000, mode: 0o755, frozen: true},
		{uid: 1000, owner: 0, mode: 0o755, frozen: true, told: true},
		{uid: 1000, owner: 0, mode: 0o775},
	} {
		m := made(debian + "/srv/w/\n")
		m.uid = c.uid
		n := m.nodes["/srv/w"]
		n.UID, n.GID, n.Mode = uint32(c.owner), uint32(c.group), c.mode
		m.nodes["/srv/w"] = n
		if c.frozen {
			m.frozen["/srv/w"] = true
		}
		p := m.mustPlan(t, working(func(d *confinement) { d.Write = []string{"/srv/w"} }))
		told := slices.ContainsFunc(p.Warnings, func(w string) bool { return strings.HasPrefix(w, "write /srv/w: belongs to user ") })
		if told != c.told {
			t.Errorf("%+v: %q", c, p.Warnings)
		}
	}
}

// What of the machine has no place in a sandbox's own file systems is hidden
// without a word.
func TestHiddenByNature(t *testing.T) {
	m := made(debian + "/proc/1234/environ\n/dev/vda %\n/dev/snd/x %\n")
	p := m.mustPlan(t, working(func(c *confinement) {
		c.Hide = []string{"/proc/1234", "/proc/1234/environ", "/proc/none", "/dev/vda", "/dev/snd", "/dev/none"}
	}))
	if len(p.Warnings) > 0 {
		t.Errorf("%q", p.Warnings)
	}
	// So is what was led to /dev/null; of what is led to anything else of theirs
	// it is said that it is not hidden.
	for to, told := range map[string]int{"/dev/null": 0, "/dev/urandom": 1, "/proc/self/mounts": 1, "/proc/1234": 0} {
		m := made(debian + "/proc/1234/mounts\n/proc/self -> 1234\n/dev/urandom %\n/srv/history -> " + to + "\n")
		p := m.mustPlan(t, working(func(c *confinement) { c.Hide = []string{"/srv/history"} }))
		if len(p.Warnings) != told {
			t.Errorf("a link to %s: %q", to, p.Warnings)
		}
	}
	for _, path := range []string{"/dev/vda", "/dev/snd"} {
		if got, err := p.Lookup(m.system(), path); err == nil && got.Access != Absent && got.Access != Private {
			t.Errorf("%s is %s", path, got.Access)
		}
	}
}

// A write folder in another is a mount of its own, whose dot files are
// protected; a read folder in another needs none.
func TestNestedMounts(t *testing.T) {
	p := made(debian+"/home/u/work/sub/\n/home/u/notes/sub/\n").mustPlan(t, working(func(c *confinement) {
		c.Write = append(c.Write, "/home/u/work/sub")
		c.Read = []string{"/home/u/notes", "/home/u/notes/sub", "/usr/bin", "/etc"}
	}))
	for at, want := range map[string]Verb{
		"/home/u/work/sub": Write, "/home/u/work/sub/.git": Close,
		"/home/u/notes": Read, "/home/u/notes/sub": 0, "/usr/bin": 0, "/etc": Read,
	} {
		if got := verbAt(p, at); got != want {
			t.Errorf("%s: %s, want %s", at, verbName(got), verbName(want))
		}
	}
}

// Where nothing can be made, by the program neither, nothing stands in.
func TestFrozenFolder(t *testing.T) {
	m := made(debian)
	m.frozen["/home/u/work"] = true
	p := m.mustPlan(t, working(func(c *confinement) { c.Hide = []string{"/home/u/work/later"} }))
	if len(p.Placeholders) > 0 {
		t.Errorf("placeholders %v", p.Placeholders)
	}
	for _, at := range []string{"/home/u/work/.git", "/home/u/work/later"} {
		if got := verbAt(p, at); got != 0 {
			t.Errorf("%s: %s", at, verbName(got))
		}
	}
}

// What cannot be looked at and so not be covered is refused where the program
// could come to see it, and only there.
func TestHideUnseen(t *testing.T) {
	hide := func(path string) func(*confinement) {
		return func(c *confinement) { c.Hide, c.Read = []string{path}, []string{"/srv/notes"} }
	}
	m := made(debian + "/home/u/work/locked ?\n/srv/notes/locked ?\n")
	if _, err := m.plan(working(hide("/home/u/work/locked"))); err == nil || !strings.Contains(err.Error(), "cannot be looked at, so it cannot be closed") {
		t.Errorf("in a write folder: %v", err)
	}
	p := m.mustPlan(t, working(hide("/srv/notes/locked")))
	if got := verbAt(p, "/srv/notes/locked"); got != 0 {
		t.Errorf("in a read folder: %s", verbName(got))
	}
}

// A dot file that cannot be looked at cannot be protected.
func TestDotFileUnseen(t *testing.T) {
	_, err := made(debian + "/home/u/work/.git ?\n").plan(working(nil))
	if err == nil || !strings.Contains(err.Error(), "cannot be looked at, so it cannot be protected") {
		t.Errorf("error %v", err)
	}
}

// Sockets without number are refused, not left open.
func TestTooManySockets(t *testing.T) {
	m := made(debian)
	for i := range maxSockets + 1 {
		m.add(fmt.Sprintf("/home/u/work/s/%d =\n", i))
	}
	if _, err := m.plan(working(nil)); err == nil || !strings.Contains(err.Error(), "too many sockets") {
		t.Errorf("error %v", err)
	}
}

// Our own program is what it was at the next start, wherever it lies.
func TestProgramInWriteFolder(t *testing.T) {
	p := made(debian+"/home/u/work/bin/lnk-sandbox\n").runs("/home/u/work/bin/lnk-sandbox").mustPlan(t, working(nil))
	if got := verbAt(p, "/home/u/work/bin/lnk-sandbox"); got != Read {
		t.Errorf("the program: %s", verbName(got))
	}
	if got := verbAt(p, "/home/u/work/bin"); got != Pin {
		t.Errorf("its folder: %s", verbName(got))
	}
}

func TestMakeOnlyWhereItShows(t *testing.T) {
	for _, c := range []struct {
		name  string
		write string
		want  []string
	}{
		{"in view", "/home/u", []string{"/home/u/.lnk"}},
		{"not in view", "/home/u/work", nil},
	} {
		p := made(debian).remove("/home/u/.lnk").mustPlan(t, working(func(d *confinement) { d.Write = []string{c.write} }))
		if !slices.Equal(p.Make, c.want) {
			t.Errorf("%s: make %q, want %q", c.name, p.Make, c.want)
		}
	}
}

// A home that lies in a system folder is not shown with it, but for what is
// named in it; a daemon's, which is packages' own folder, stays.
func TestHomeInASystemFolder(t *testing.T) {
	for home, want := range map[string]Access{
		"/opt/u": Private, "/usr/home/u": Private, "/usr/local/u": Private, "/opt/local/lib/u": Private,
		"/usr/sbin": ReadOnly, "/usr/lib/news": ReadOnly, "/usr/local": ReadOnly, "/usr/local/bin": ReadOnly, "/etc/u": ReadOnly,
		"/opt": ReadOnly, "/usr": ReadOnly,
	} {
		m := made(debian+"/srv/w/f\n"+home+"/.ssh/id\n"+home+"/notes/n\n").as(1000, home).in("/")
		c := working(func(c *confinement) { c.Write, c.Read = []string{"/srv/w"}, []string{home + "/notes"} })
		for _, plan := range []func(client.Confinement) (Plan, error){m.plan, m.byKernel} {
			p, err := plan(c)
			if err != nil {
				t.Fatal(err)
			}
			for path, want := range map[string]Access{home: want, home + "/notes/n": ReadOnly} {
				if got, err := p.Lookup(m.system(), path); err != nil || got.Access != want {
					t.Errorf("%s is %s (%s), want %s, %v", path, got.Access, got.Because, want, err)
				}
			}
			got, err := p.Lookup(m.system(), home+"/.ssh/id")
			if hidden := want == Private; err != nil || (got.Access == Absent) != hidden {
				t.Errorf("%s/.ssh/id is %s, %v", home, got.Access, err)
			}
		}
	}
	m := made(debian+"/opt/u/.ssh/id\n").as(1000, "/opt/u").in("/")
	p := m.mustPlan(t, working(func(c *confinement) { c.Write, c.ReadHome = nil, true }))
	if got, err := p.Lookup(m.system(), "/opt/u/.ssh/id"); err != nil || got.Access != ReadOnly {
		t.Errorf("read_home: %s, %v", got.Access, err)
	}
	// Root's, which nobody else may read, or in a folder that nobody may.
	for _, closed := range []string{"/opt/u", "/opt/v"} {
		for _, home := range []string{"/opt/u", "/opt/v/u"} {
			for readHome, want := range map[bool]Access{false: Private, true: ReadOnly} {
				m := made(debian+"/srv/w/f\n"+home+"/.ssh/id\n/opt/u/\n/opt/v/x\n").as(0, home).in("/")
				m.rootOnly = []string{closed}
				p := m.mustPlan(t, working(func(c *confinement) { c.Write, c.ReadHome = []string{"/srv/w"}, readHome }))
				if readHome && closed == "/opt/v" && home == "/opt/v/u" {
					want = Closed // what is above it is closed to all
				}
				if got, err := p.Lookup(m.system(), home); err != nil || got.Access != want {
					t.Errorf("%s of root with %s closed, read_home %v: %s, want %s, %v", home, closed, readHome, got.Access, want, err)
				}
				if got, err := p.Lookup(m.system(), "/opt/v/x"); err != nil || (closed == "/opt/v") != (got.Access == Closed || got.Access == Absent) {
					t.Errorf("%s closed, home %s, read_home %v: /opt/v/x is %s, %v", closed, home, readHome, got.Access, err)
				}
			}
		}
	}
}
