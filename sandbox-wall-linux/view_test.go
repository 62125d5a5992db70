package linuxwall

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// inView is a machine and a plan with some of everything in view.
func inView(t *testing.T) (*machine, Plan) {
	t.Helper()
	m := made(debian+`
/usr/bin/python3 -> python3.11
/usr/bin/python3.11
/usr/bin/editor -> /etc/alternatives/editor
/etc/alternatives/editor -> /usr/bin/vim
/usr/bin/vim
/usr/share/doc/readme
/opt/tool/run
/home/u/work/script
/home/u/work/data
/home/u/work/a/secret/key
/home/u/work/loop -> loop
/home/u/work/out -> /home/u/private
/home/u/work/up -> ../work/a
/home/u/private/x
/home/u/notes/n
/home/u/notes/app.sock =
/home/u/mine -> notes
`).mode("/home/u/work/data", 0o644)
	p, err := m.plan(working(func(c *confinement) {
		c.Read = []string{"/home/u/mine"}
		c.Hide = []string{"/home/u/work/a/secret", "/home/u/notes/n"}
		c.TmpPrefix = "t-"
	}))
	if err != nil {
		t.Fatal(err)
	}
	return m, p
}

func TestLookup(t *testing.T) {
	m, p := inView(t)
	for _, c := range []struct {
		path, leads string
		access      Access
		member      string
	}{
		{"/home/u/work", "", ReadWrite, "write"},
		{"/home/u/work/script", "", ReadWrite, "write"},
		{"/home/u/work/none", "", Absent, "write"},
		{"/home/u/work/a", "", ReadWrite, "hide"}, // pinned for its sake
		{"/home/u/work/up/secret", "/home/u/work/a/secret", Closed, "hide"},
		{"/home/u/work/a/secret", "", Closed, "hide"},
		{"/home/u/work/a/secret/key", "", Closed, "hide"},
		{"/home/u/work/a/secret/key/deeper", "", Closed, "hide"},
		{"/home/u/work/.git", "", Closed, "dot files"},
		{"/home/u/work/out", "/home/u/private", Absent, "view"},
		{"/home/u/work/out/x", "/home/u/private/x", Absent, "view"},
		{"/home/u", "", Private, "view"},
		{"/home/u/private", "", Absent, "view"},
		{"/home/u/.lnk", "", Closed, "settings"},
		{"/home/u/.lnk/key", "", Closed, "settings"},
		{"/home/u/mine", "/home/u/notes", ReadOnly, "read"},
		{"/home/u/mine/app.sock", "/home/u/notes/app.sock", Closed, "sockets"},
		{"/home/u/notes/n", "", Closed, "hide"},
		{"/bin/python3", "/usr/bin/python3.11", ReadOnly, "system"},
		{"/usr/bin/editor", "/usr/bin/vim", ReadOnly, "system"},
		{"/usr/bin/vim/x", "", Absent, "system"},
		{"/etc/resolv.conf", "", Private, "view"},
		{"/run/lnk/lnk-sandbox", "", ReadOnly, "view"},
		{"/run/lnk", "", Private, "view"},
		{"/run/docker.sock", "", Absent, "view"},
		{"/var/run/lnk", "/run/lnk", Private, "view"},
		{"/tmp", "", Private, "view"},
		{"/tmp/t-tmp", "", Private, "tmp_prefix"},
		{"/tmp/x", "", Absent, "view"},
		{"/proc/self/exe", "", Private, "view"},
		{"/dev/null", "", Private, "view"},
		{"/srv", "", Absent, "view"},
		{"/", "", Private, "view"},
	} {
		t.Run(c.path, func(t *testing.T) {
			got, err := p.Lookup(m.system(), c.path)
			if err != nil {
				t.Fatal(err)
			}
			if c.leads == "" {
				c.leads = c.path
			}
			if got.Path != c.leads || got.Access != c.access || got.Because.Member != c.member {
				t.Errorf("leads to %s, %s by %s; want %s, %s by %s", got.Path, got.Access, got.Because.Member, c.leads, c.access, c.member)
			}
			if isHosts(got.Access) != (got.Host != "") && got.Access != Absent {
				t.Errorf("%s, and of this machine it is %q", got.Access, got.Host)
			}
		})
	}
	if got, _ := p.Lookup(m.system(), ProgramInside); got.Host != "/usr/bin/lnk-sandbox" {
		t.Errorf("our program is %s", got.Host)
	}
	for _, path := range []string{"/home/u/work/loop", "relative", "/x/../y", ""} {
		if got, err := p.Lookup(m.system(), path); err == nil {
			t.Errorf("%q leads to %s", path, got.Path)
		}
	}
}

func TestOffer(t *testing.T) {
	m, p := inView(t)
	if err := p.Offer("gh", "a b"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gh", "a b"} {
		if got, err := p.Lookup(m.system(), NamesInside+"/"+name); err != nil || got.Path != ProgramInside {
			t.Errorf("%s leads to %q, %v", name, got.Path, err)
		}
	}
	if got := rendered(p); !strings.Contains(got, "--symlink /run/lnk/lnk-sandbox /run/lnk/bin/gh\n") ||
		strings.Index(got, "/run/lnk/bin/gh") > strings.Index(got, "--remount-ro") {
		t.Errorf("the link is not made before the seals:\n%s", got)
	}
	if strings.Contains(rendered(p), CallerInside) {
		t.Error("what makes calls is shown, and is not there")
	}
	for _, name := range []string{"", ".", "..", "a/b", "a\x00", "a\n"} {
		if err := p.Offer(name); !errors.Is(err, ErrRefused) {
			t.Errorf("%q: error %v, want a refusal", name, err)
		}
	}
}

// What makes the calls is shown where it stands beside our program, can be
// executed and a name is offered.
func TestOfferCaller(t *testing.T) {
	const beside = "/usr/bin/" + callerName
	old := "--perms --size --disable-userns"
	for _, c := range []struct {
		name string
		on   *machine
		net  NetFrom
		none bool // no name is offered
		want bool
	}{
		{name: "beside", on: made(debian + beside), net: Given, want: true},
		{name: "an old bubblewrap", on: made(debian + beside).helps(old), net: Given, want: true},
		{name: "nothing offered", on: made(debian + beside), net: Given, none: true},
		{name: "no proxy", on: made(debian + beside), net: Own},
		{name: "not executable", on: made(debian+beside).mode(beside, 0o644), net: Given},
		{name: "a link", on: made(debian + "/usr/bin/true\n" + beside + " -> true"), net: Given},
		{name: "a folder", on: made(debian + beside + "/"), net: Given},
		{name: "not there", on: made(debian), net: Given},
	} {
		for _, only := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, commands named %v", c.name, only), func(t *testing.T) {
				p, err := c.on.planWith(working(func(w *confinement) {
					if c.net == Given {
						w.Net = client.Net{}
					}
					if only {
						w.Commands = client.OnlyCommands("/usr/bin/git")
					}
				}), c.net)
				if err != nil {
					t.Fatal(err)
				}
				names := []string{"gh"}
				if c.none {
					names = nil
				}
				if err := p.Offer(names...); err != nil {
					t.Fatal(err)
				}
				at := slices.IndexFunc(p.Steps, func(s Step) bool { return s.At == CallerInside })
				if got := at >= 0; got != c.want {
					t.Fatalf("it is shown: %v", got)
				}
				if s := p.Steps[max(at, 0)]; c.want && (s.From != beside || s.Verb != Read || !s.Is.same(c.on.nodes[beside]) || (s.Stable != "") != (c.on.help == old)) {
					t.Errorf("shown as %+v", s)
				}
				if may := slices.Contains(p.Run, CallerInside); may != (c.want && only) {
					t.Errorf("it is among what may be executed: %v", may)
				}
				leads := ProgramInside
				if c.want {
					leads = CallerInside
				}
				if got := rendered(p); strings.Contains(got, "--symlink "+leads+" /run/lnk/bin/gh\n") == c.none {
					t.Errorf("the name leads elsewhere:\n%s", got)
				}
			})
		}
	}
}

// Each step that is opened has a descriptor of its own, in their order.
func TestBwrapArgsNumbersDescriptors(t *testing.T) {
	_, p := inView(t)
	args := p.BwrapArgs(7)
	next := 7
	for i, a := range args {
		switch a {
		case "--bind-fd", "--ro-bind-fd", "--ro-bind-data", "--file":
			if want := fmt.Sprint(next); args[i+1] != want {
				t.Errorf("%s %s has %s, want %s", a, args[i+2], args[i+1], want)
			}
			next++
		}
	}
	opened := 0
	for _, s := range p.Steps {
		if s.Opened() {
			opened++
		}
	}
	if next-7 != opened || opened < 10 {
		t.Errorf("%d descriptors for %d steps that are opened", next-7, opened)
	}
}

func TestTmpDir(t *testing.T) {
	for prefix, want := range map[string]string{"": "", "web-": "/tmp/web-tmp"} {
		if got := TmpDir(client.Confinement{TmpPrefix: prefix}); got != want {
			t.Errorf("%q: %q, want %q", prefix, got, want)
		}
	}
}

// Notes say what of a confinement is without effect.
func TestNotes(t *testing.T) {
	for _, c := range []struct {
		name   string
		on     *machine
		change func(*confinement)
		want   string
		warns  bool
	}{
		{"settings named", made(debian + "/home/u/.lnk/x\n"), func(c *confinement) { c.Read = []string{"/home/u/.lnk/x"} },
			"read /home/u/.lnk/x: lies in the settings, which stay closed", true},
		{"settings written", made(debian), func(c *confinement) { c.Write = []string{"/home/u/.lnk"} },
			"write /home/u/.lnk: lies in the settings, which stay closed", true},
		{"hidden and named", made(debian), func(c *confinement) { c.Hide = []string{"/home/u/work"} },
			"hide /home/u/work: write names it too, so it is open", true},
		{"a pattern hidden", made(debian), func(c *confinement) { c.Hide = []string{"/home/u/work/**/.env"} },
			"hide /home/u/work/**/.env: nothing is called so, and patterns are not expanded", true},
		{"a variable hidden", made(debian), func(c *confinement) { c.Hide = []string{"/home/u/$NAME/.env"} },
			"hide /home/u/$NAME/.env: nothing is called so, and variables are not expanded: write the path in full", true},
		{"no repository", made(debian), func(c *confinement) { c.WriteDotFiles = []string{"/home/u/work/.git"} },
			"there is no repository yet", true},
		{"a worktree that nothing names", made(debian + "/home/u/work/.git: gitdir: /home/u/main/.git/worktrees/w\n/home/u/main/.git/worktrees/w/gitdir: /home/u/other/.git\n"),
			func(c *confinement) { c.WriteDotFiles = []string{"/home/u/work/.git"} }, "its repository does not name it in turn", true},
		{"not in view", made(debian).in("/srv"), nil, "the current folder /srv is not in view: it starts in /home/u/work", false},
		{"gone", made(debian).in(""), nil, "the current folder is not in view: it starts in /home/u/work", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.on.mustPlan(t, working(c.change))
			if got := strings.Join(p.Notes, "\n"); !strings.Contains(got, c.want) {
				t.Errorf("notes %q, want one with %q", got, c.want)
			}
			// What somebody named is said at each start, not only where it is asked.
			if got := strings.Join(p.Warnings, "\n"); strings.Contains(got, c.want) != c.warns {
				t.Errorf("warnings %q: one with %q: %v", got, c.want, c.warns)
			}
			if !strings.Contains(p.Explain(), c.want) {
				t.Error("the note is not in what is explained")
			}
		})
	}
}
