package linuxwall

import (
	"fmt"
	"strings"
	"testing"
)

const (
	ledWork = "/home/u/work"
	ledGit  = "/home/u/work/.git/HEAD\n/home/u/work/.git/objects/\n/home/u/work/.git/config: [core]\n"
)

// What a configuration names is kept where the program could change it, and
// nothing that was named or hidden is opened for it.
func TestLed(t *testing.T) {
	m := made(debian + ledGit + `
/home/u/work/.git/config: hooksPath = .husky/_
/home/u/work/.git/config: pager = tools/secret/pager
/home/u/work/.git/config: editor = own/editor
/home/u/work/.git/config: fsmonitor = !sed s/a/b/ tools
/home/u/work/.husky/_/pre-commit
/home/u/work/tools/secret/pager
/home/u/work/own/editor
/home/u/work/sub/.git: gitdir: ../store/sub
/home/u/work/store/sub/config: [core]
/home/u/work/store/sub/config: gitProxy = ./proxy
/home/u/work/sub/proxy
/home/u/work/lost/.git: gitdir: ../store/lost/x
/home/u/.gitconfig: [include]
/home/u/.gitconfig: path = ~/work/dots
/home/u/work/dots: [core]
/home/u/work/dots: askPass = bin/ask
/home/u/work/bin/ask
`)
	p := m.mustPlan(t, working(func(c *confinement) {
		c.Hide = []string{ledWork + "/tools/secret"}
		c.Write = append(c.Write, ledWork+"/own")
	}))
	for name, want := range map[string]Verb{
		".husky": Read, "tools/secret": Close, "tools/secret/pager": 0, "own/editor": Read, "s": 0, "tools": Pin,
		"store/sub": Read, "sub/proxy": Read, "store/lost": Close, "dots": Read, "bin/ask": Read,
	} {
		if got := verbAt(p, ledWork+"/"+name); got != want {
			t.Errorf("%s: %s, want %s", name, verbName(got), verbName(want))
		}
	}
	if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes, ledWork+"/.husky: git is led to it by core.hookspath of "+ledWork+"/.git") {
		t.Errorf("notes %q", p.Notes)
	}
	opened := m.mustPlan(t, working(func(c *confinement) { c.WriteDotFiles = c.Write }))
	if got := verbAt(opened, ledWork+"/.husky"); got != 0 {
		t.Errorf("opened: %s", verbName(got))
	}
}

// Past the bound it is said that not all is kept.
func TestLedToTooMuch(t *testing.T) {
	m := made(debian + ledGit)
	for i := range maxLed + 1 {
		m.add(fmt.Sprintf("/home/u/work/.git/config: pager = ./p%d\n/home/u/work/p%d\n", i, i))
	}
	p := m.mustPlan(t, working(nil))
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "leads git to more places than can be kept, "+ledWork+"/p64 among them") {
		t.Errorf("warnings %q", p.Warnings)
	}
	m = made(debian + ledGit)
	m.add("/home/u/work/.git/config: pager = " + strings.Repeat("x", maxText) + "\n")
	if p := m.mustPlan(t, working(nil)); len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "is too long or includes too much") {
		t.Errorf("warnings %q", p.Warnings)
	}
	m = made(debian + ledGit)
	m.add("/home/u/work/.git/config: [include]\n/home/u/work/.git/config: path = config\n")
	if p := m.mustPlan(t, working(nil)); len(p.Warnings) != 1 {
		t.Errorf("one that includes itself: warnings %q", p.Warnings)
	}
	m = made(debian + ledGit + "/home/u/work/.git/index: no index\n")
	if p := m.mustPlan(t, working(nil)); len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "not an index of git's") {
		t.Errorf("no index: warnings %q", p.Warnings)
	}
}
