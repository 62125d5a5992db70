package linuxwall

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// worktree is a linked worktree in /home/u/work, of the repository of
// /home/u/main, as git worktree add makes it.
const worktree = `
/home/u/main/.git/HEAD
/home/u/main/.git/config
/home/u/main/.git/objects/
/home/u/main/.git/hooks/
/home/u/main/.git/worktrees/w/gitdir: /home/u/work/.git
/home/u/main/.git/worktrees/w/commondir: ../..
/home/u/work/.git: gitdir: /home/u/main/.git/worktrees/w
`

// verbAt gives what a plan does at a path.
func verbAt(p Plan, path string) Verb {
	for _, s := range p.Steps {
		if s.At == path && s.Verb != Seal {
			return s.Verb
		}
	}
	return 0
}

// A worktree's .git file may be anyone's: it opens a repository only where
// that names it in turn.
func TestWorktreeOpensItsRepository(t *testing.T) {
	const common = "/home/u/main/.git"
	for _, c := range []struct {
		name  string
		on    *machine
		opens bool
	}{
		{"as git makes it", made(debian + worktree), true},
		{"relative", made(debian + strings.Replace(worktree, "gitdir: /home/u/main/.git/worktrees/w", "gitdir: ../main/.git/worktrees/w", 1)), true},
		{"an absolute commondir", made(debian + strings.Replace(worktree, ": ../..", ": /home/u/main/.git", 1)), true},
		{"another names it", made(debian + strings.Replace(worktree, "gitdir: /home/u/work/.git", "gitdir: /home/u/else/.git", 1)), false},
		{"it is named by no worktree", made(debian + worktree).remove(common + "/worktrees/w/gitdir"), false},
		{"no commondir", made(debian + worktree).remove(common + "/worktrees/w/commondir"), false},
		{"a commondir elsewhere", made(debian + "/home/u/private/HEAD\n/home/u/private/objects/\n" + strings.Replace(worktree, ": ../..", ": /home/u/private", 1)), false},
		{"no repository", made(debian + worktree).remove(common + "/HEAD"), false},
		{"no objects", made(debian + worktree).remove(common + "/objects"), false},
		{"not among worktrees", made(debian + strings.ReplaceAll(worktree, "worktrees", "trees")), false},
		{"a submodule", made(debian + "/home/u/main/.git/modules/m/HEAD\n/home/u/work/.git: gitdir: ../main/.git/modules/m\n"), false},
		{"not a gitdir", made(debian + strings.Replace(worktree, "gitdir: /home/u/main", "/home/u/main", 1)), false},
		{"nothing", made(debian + strings.Replace(worktree, "gitdir: /home/u/main/.git/worktrees/w\n", "gitdir: \n", 1)), false},
		{"by a link in the write folder", made(debian + "/home/u/work/l -> ../main\n" +
			strings.Replace(worktree, "/home/u/work/.git: gitdir: /home/u/main", "/home/u/work/.git: gitdir: l", 1)), false},
		{"a file far too long", long(made(debian+worktree), "/home/u/work/.git"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.on.mustPlan(t, working(func(c *confinement) { c.WriteDotFiles = []string{"/home/u/work/.git"} }))
			if got := verbAt(p, common) == Write; got != c.opens {
				t.Errorf("the repository is opened: %v, want %v\n%s", got, c.opens, p.Explain())
			}
			if got := verbAt(p, "/home/u/work/.git"); got != Read {
				t.Errorf("the file of the worktree: %s, want read", got)
			}
			if !c.opens && len(p.Notes) == 0 {
				t.Error("it is left closed without a word")
			}
		})
	}
}

func long(m *machine, path string) *machine {
	m.texts[path] += strings.Repeat("x", maxText)
	return m
}

// Neither is what is hidden opened by a worktree, nor the settings.
func TestWorktreeOpensNothingClosed(t *testing.T) {
	for _, c := range []struct {
		name string
		on   *machine
		hide []string
	}{
		{"hidden", made(debian + worktree), []string{"/home/u/main"}},
		{"the settings", made(debian + strings.ReplaceAll(worktree, "/home/u/main", "/home/u/.lnk/x")), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.on.mustPlan(t, working(func(d *confinement) {
				d.Hide, d.WriteDotFiles = c.hide, []string{"/home/u/work/.git"}
			}))
			for _, s := range p.Steps {
				if s.Verb == Write && s.At != "/home/u/work" {
					t.Errorf("%s is opened\n%s", s.At, p.Explain())
				}
			}
		})
	}
}

// Of a repository that is opened by itself, everything that git runs, or that
// decides what it runs, stays as it is.
func TestGitProtectsWhatRuns(t *testing.T) {
	const git = "/home/u/work/.git"
	full := made(debian + `
/home/u/work/.git/HEAD
/home/u/work/.git/config
/home/u/work/.git/config.worktree
/home/u/work/.git/hooks/
/home/u/work/.git/commondir
/home/u/work/.git/modules/m/HEAD
/home/u/work/.git/modules/m/config
/home/u/work/.git/modules/m/hooks/
/home/u/work/.git/modules/m/modules/deep/HEAD
/home/u/work/.git/modules/not/one
/home/u/work/.git/worktrees/w/commondir
/home/u/work/.git/worktrees/w/gitdir
/home/u/work/.git/worktrees/w/config.worktree
/home/u/work/.git/worktrees/link -> /srv
`)
	empty := made(debian + "/home/u/work/.git/HEAD\n/home/u/work/.git/worktrees/w/commondir\n")
	opened := working(func(c *confinement) { c.WriteDotFiles = []string{git} })
	for _, c := range []struct {
		name string
		on   *machine
		want map[string]Verb
	}{
		{"all there", full, map[string]Verb{
			"": Write, "config": Read, "config.worktree": Read, "hooks": Read, "commondir": Read,
			"modules": Read, "modules/m": Write, "modules/m/config": Read, "modules/m/hooks": Read,
			"modules/m/commondir": Tell, "modules/m/modules/deep": Write, "modules/m/modules/deep/hooks": Close,
			"modules/not": 0, "modules/not/one": 0,
			"worktrees": Pin, "worktrees/w": Pin, "worktrees/w/commondir": Read, "worktrees/w/gitdir": Read, "worktrees/w/config.worktree": Read,
			"worktrees/link/commondir": 0, "worktrees/link/config.worktree": 0,
		}},
		{"nothing there", empty, map[string]Verb{
			"": Write, "config": Tell, "config.worktree": Tell, "hooks": Close, "commondir": Tell, "modules": Close,
			"worktrees/w/commondir": Read, "worktrees/w/config.worktree": Tell, "worktrees/w/gitdir": 0,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.on.mustPlan(t, opened)
			for name, want := range c.want {
				at := strings.TrimSuffix(git+"/"+name, "/")
				if got := verbAt(p, at); got != want {
					t.Errorf("%s: %s, want %s", at, verbName(got), verbName(want))
				}
			}
		})
	}
	p := empty.mustPlan(t, opened)
	for _, h := range p.Placeholders {
		want := map[string]string{git + "/commondir": ".\n"}[h.Path]
		if h.Text != want {
			t.Errorf("the placeholder %s says %q, want %q", h.Path, h.Text, want)
		}
		if wantKind := map[bool]Kind{true: File, false: Folder}[verbAt(p, h.Path) == Tell]; h.Kind != wantKind {
			t.Errorf("the placeholder %s is %s, want %s", h.Path, h.Kind, wantKind)
		}
	}
}

func verbName(v Verb) string {
	if v == 0 {
		return "nothing"
	}
	return v.String()
}

// Many submodules would each cost mounts: past a number all stay read only,
// and the plan says so.
func TestGitManySubmodules(t *testing.T) {
	m := made(debian + "/home/u/work/.git/HEAD\n")
	for i := range maxRepositories + 1 {
		m.add(fmt.Sprintf("/home/u/work/.git/modules/%d/HEAD\n", i))
	}
	p := m.mustPlan(t, working(func(c *confinement) { c.WriteDotFiles = []string{"/home/u/work/.git"} }))
	if got := verbAt(p, "/home/u/work/.git/modules"); got != Read {
		t.Errorf("the submodules: %s", verbName(got))
	}
	for _, s := range p.Steps {
		if s.Verb == Write && below(s.At, "/home/u/work/.git") {
			t.Errorf("%s is opened", s.At)
		}
	}
	if !slices.ContainsFunc(p.Notes, func(n string) bool { return strings.Contains(n, "more than 32 submodules") }) {
		t.Errorf("notes %q", p.Notes)
	}
}

// Naming a folder's dot files opens its repository whole, also where that is
// named by itself.
func TestGitNamedWithItsFolder(t *testing.T) {
	p := made(debian+"/home/u/work/.git/hooks/\n").mustPlan(t, working(func(c *confinement) {
		c.Write = append(c.Write, "/home/u/work/.git")
		c.WriteDotFiles = []string{"/home/u/work"}
	}))
	if got := verbAt(p, "/home/u/work/.git/hooks"); got != 0 {
		t.Errorf("hooks: %s, want nothing", got)
	}
}

// A work tree whose repository is not in view is told of, with what brings it
// there; nothing is said of one that is, or that is not the repository's own.
func TestFarRepository(t *testing.T) {
	const common = "/home/u/main/.git"
	for _, c := range []struct {
		name string
		on   *machine
		read []string
		told bool
	}{
		{"a worktree", made(debian + worktree), nil, true},
		{"read", made(debian + worktree), []string{common}, false},
		{"read from above", made(debian + worktree), []string{"/home/u/main"}, false},
		{"somebody else's", made(debian + worktree).remove(common + "/worktrees/w/gitdir"), nil, false},
		{"a repository", made(debian + "/home/u/work/.git/HEAD\n/home/u/work/.git/objects/\n"), nil, false},
		{"none", made(debian), nil, false},
	} {
		p := c.on.mustPlan(t, working(func(w *client.Confinement) { w.Read = c.read }))
		said := strings.Join(p.Warnings, "\n")
		if want := "/home/u/work is a work tree of " + common + ", which is not in view, so that git finds no repository: to have it read: --read " + common + "; to commit to it: --write-dot-files /home/u/work/.git"; (said == want) != c.told || !c.told && said != "" {
			t.Errorf("%s: %q", c.name, said)
		}
	}
}
