package linuxwall

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A repository below a write folder is protected as that at the top is, unless
// it is opened.
func TestNestedRepositories(t *testing.T) {
	const work = "/home/u/work"
	const tree = `
/home/u/work/sub/.git/config
/home/u/work/sub/.envrc
/home/u/work/sub/.vscode/
/home/u/work/lib/mod/.git: gitdir: ../../.git/modules/mod
/home/u/work/bare/HEAD
/home/u/work/bare/objects/
/home/u/work/bare/refs/
/home/u/work/linked/.git -> ../elsewhere
/home/u/work/plain/.envrc
/home/u/work/hidden/x/.git/config
`
	for _, c := range []struct {
		name   string
		change func(*confinement)
		want   map[string]Verb
	}{
		{"protected", func(c *confinement) { c.Hide = []string{work + "/hidden"} }, map[string]Verb{
			"sub": Pin, "sub/.git": Read, "sub/.envrc": Read, "sub/.vscode": Read, "sub/.idea": 0, "lib": Pin, "lib/mod": Pin, "lib/mod/.git": Read,
			"bare": Read, "linked/.git": 0, "plain/.envrc": 0, "plain": 0, "hidden": Close, "hidden/x/.git": 0,
		}},
		{"the write folder is opened", func(c *confinement) { c.WriteDotFiles = []string{work} }, map[string]Verb{
			"sub": 0, "sub/.git": 0, "sub/.envrc": 0, "lib/mod/.git": 0, "bare": 0,
		}},
		{"its .git is opened, at the top", func(c *confinement) { c.WriteDotFiles = []string{work + "/.git"} }, map[string]Verb{"sub/.git": Read, "bare": Read}},
		{"its folder is opened", func(c *confinement) {
			c.Write, c.WriteDotFiles = append(c.Write, work+"/sub"), []string{work + "/sub"}
		}, map[string]Verb{"sub": Write, "sub/.git": 0, "sub/.envrc": 0, "lib/mod/.git": Read}},
		{"its .git is opened", func(c *confinement) {
			c.Write, c.WriteDotFiles = append(c.Write, work+"/sub"), []string{work + "/sub/.git"}
		}, map[string]Verb{
			"sub/.git": Write, "sub/.git/config": Read, "sub/.git/hooks": Close, "sub/.envrc": Read,
		}},
		{"in what is read", func(c *confinement) { c.Read = []string{work + "/sub"} }, map[string]Verb{"sub": Read, "sub/.git": 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			confined := working(c.change)
			p := made(debian+tree).mustPlan(t, confined)
			for name, want := range c.want {
				if got := verbAt(p, work+"/"+name); got != want {
					t.Errorf("%s: %s, want %s\n%s", name, verbName(got), verbName(want), p.Explain())
				}
			}
			for _, h := range p.Placeholders {
				if dir := parent(h.Path); !slices.Contains(confined.Write, dir) && !strings.Contains(dir, ".git") {
					t.Errorf("a placeholder below the top: %s", h.Path)
				}
			}
		})
	}
	p := made(debian+tree).mustPlan(t, working(nil))
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], work+"/linked/.git is a link") {
		t.Errorf("warnings %q", p.Warnings)
	}
}

// Another run's placeholder is no repository: it goes with that run.
func TestNestedPlaceholder(t *testing.T) {
	m := made(debian+"/home/u/work/sub/.git/\n/home/u/work/sub/.envrc/\n").mode("/home/u/work/sub/.git", 0o1755).mode("/home/u/work/sub/.envrc", 0o1755)
	p := m.mustPlan(t, working(nil))
	for _, name := range []string{"sub/.git", "sub/.envrc"} {
		if got := verbAt(p, "/home/u/work/"+name); got != 0 {
			t.Errorf("%s: %s", name, verbName(got))
		}
	}
}

// An empty file called .git is no repository to git, and a cache's own to open.
// What stands beside it, and a file that says anything, is kept.
func TestNestedEmptyFile(t *testing.T) {
	const work = "/home/u/work/"
	p := made(debian+work+"cache/sdists/.git 0\n"+work+"cache/sdists/.envrc: x\n"+work+"cache/said/.git: x\n").mustPlan(t, working(nil))
	for name, want := range map[string]Verb{"cache/sdists/.git": 0, "cache/sdists/.envrc": Read, "cache/said/.git": Read} {
		if got := verbAt(p, work+name); got != want {
			t.Errorf("%s: %s, want %s\n%s", name, verbName(got), verbName(want), p.Explain())
		}
	}
}

// Of too many repositories the folders that hold most of them stay read only,
// and that is said; where they lie everywhere, the sandbox is refused.
func TestTooManyNested(t *testing.T) {
	crowd := func(m *machine, dir string, n int) *machine {
		for i := range n {
			m.add(fmt.Sprintf("%s/%d/.git/config\n", dir, i))
		}
		return m
	}
	const work = "/home/u/work"
	m := crowd(crowd(crowd(made(debian), work+"/big", maxNested+2), work+"/small", 20), work+"/few", 2)
	p := m.mustPlan(t, working(func(c *confinement) {
		c.Write = append(c.Write, work+"/big/7", work+"/big/9")
		c.WriteDotFiles = []string{work + "/big/7/.git", work + "/big/9"}
	}))
	for name, want := range map[string]Verb{
		"big": Read, "big/1/.git": 0, "big/7": Write, "small": Pin, "small/1/.git": Read, "few/1/.git": Read,
		"big/7/.git": Write, "big/7/.git/hooks": Close, "big/9": Write,
	} {
		if got := verbAt(p, work+"/"+name); got != want {
			t.Errorf("%s: %s, want %s", name, verbName(got), verbName(want))
		}
	}
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], work+"/big stays read only: 256 repositories") {
		t.Errorf("warnings %q", p.Warnings)
	}
	_, err := crowd(made(debian), work, maxNested+1).plan(working(nil))
	if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "257 repositories lie in it") {
		t.Errorf("everywhere: %v", err)
	}
	if _, err := crowd(made(debian), work, maxNested+1).plan(working(func(c *confinement) { c.WriteDotFiles = []string{work} })); err != nil {
		t.Errorf("opened: %v", err)
	}
	if _, err := crowd(made(debian), work, maxNested).plan(working(nil)); err != nil {
		t.Errorf("as many as can be: %v", err)
	}
}

// A write folder that is a repository itself is protected as one that is named
// by its .git.
func TestBareWriteFolder(t *testing.T) {
	m := made(debian + "/home/u/work/HEAD\n/home/u/work/objects/\n/home/u/work/refs/\n/home/u/work/config\n")
	for name, want := range map[string]Verb{"": Write, "config": Read, "hooks": Close, "commondir": Tell} {
		if got := verbAt(m.mustPlan(t, working(nil)), strings.TrimSuffix("/home/u/work/"+name, "/")); got != want {
			t.Errorf("%s: %s, want %s", name, verbName(got), verbName(want))
		}
	}
	opened := m.mustPlan(t, working(func(c *confinement) { c.WriteDotFiles = c.Write }))
	if got := verbAt(opened, "/home/u/work/config"); got != 0 {
		t.Errorf("opened: config: %s", verbName(got))
	}
}

// A repository that an earlier run made of a write folder, or put into one,
// opens nothing that is hidden or only read, and hides nothing from the next.
func TestPlantedBareOpensNothing(t *testing.T) {
	const work = "/home/u/work"
	m := made(debian + `
/home/u/work/HEAD
/home/u/work/objects
/home/u/work/refs
/home/u/work/sub/.git/config
/home/u/work/modules/x/HEAD
/home/u/work/modules/y/HEAD
/home/u/work/worktrees/x/commondir
/home/u/work/hooks/x
/home/u/work/info/attributes
/home/u/work/deep/HEAD
/home/u/work/deep/objects
/home/u/work/deep/refs
/home/u/work/deep/er/.envrc
/home/u/work/deep/er/.git/
`)
	p := m.mustPlan(t, working(func(c *confinement) {
		c.Hide = []string{work + "/modules", work + "/worktrees", work + "/hooks", work + "/info"}
	}))
	for name, want := range map[string]Verb{
		"modules": Close, "modules/x": 0, "modules/x/config": 0, "worktrees": Close, "worktrees/x/commondir": 0, "hooks": Close, "info": Close, "info/attributes": 0,
		"sub/.git": Read, "commondir": Tell, "deep": Read,
	} {
		if got := verbAt(p, work+"/"+name); got != want {
			t.Errorf("%s: %s, want %s", name, verbName(got), verbName(want))
		}
	}
	p = m.mustPlan(t, working(func(c *confinement) { c.Hide = []string{work + "/modules/x"}; c.Read = []string{work + "/modules/y"} }))
	for name, want := range map[string]Verb{"modules": Read, "modules/x": Close, "modules/y": 0} {
		if got := verbAt(p, work+"/"+name); got != want {
			t.Errorf("%s: %s, want %s", name, verbName(got), verbName(want))
		}
	}
	p = m.mustPlan(t, working(func(c *confinement) { c.Read = []string{work + "/modules"} }))
	if got := verbAt(p, work+"/modules/x"); got != 0 {
		t.Errorf("a submodule in what is read: %s", verbName(got))
	}
}

// What the time did not suffice for is said, in a line.
func TestUnseenIsSaid(t *testing.T) {
	m := made(debian)
	for _, name := range []string{"a", "b", "c\nd", "e", "f"} {
		m.unseen = append(m.unseen, "/home/u/work/"+name)
	}
	p := m.mustPlan(t, working(nil))
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], `/home/u/work/a, /home/u/work/b, "/home/u/work/c\nd" and 2 more`) {
		t.Errorf("warnings %q", p.Warnings)
	}
}

// Sockets that the walk found are closed where something listens; what a
// program left behind can be bound again.
func TestSocketsBelow(t *testing.T) {
	m := made(debian + "/home/u/work/a/live =\n/home/u/work/a/left =\n")
	m.sockets = "" // bound by a relative path, or in another namespace
	m.quiet["/home/u/work/a/left"] = true
	p := m.mustPlan(t, working(nil))
	for name, want := range map[string]Verb{"live": CloseFile, "left": 0} {
		if got := verbAt(p, "/home/u/work/a/"+name); got != want {
			t.Errorf("%s: %s, want %s", name, verbName(got), verbName(want))
		}
	}
}

func TestWritable(t *testing.T) {
	p := made(debian+"/home/u/work/sub/.git/config\n").mustPlan(t, working(nil))
	writable := p.Writable()
	for path, want := range map[string]bool{
		"/home/u/work/x": true, "/home/u/work/sub/x": true, "/home/u/work/sub/.git": false, "/home/u/work/sub/.git/hooks": false, "/home/u/work/.git": false, "/etc/x": false,
	} {
		if got := writable(path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}
