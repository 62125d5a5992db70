package linuxwall

import (
	"strings"
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// byKernel makes a confinement's plan for the kernel's own calls.
func (m *machine) byKernel(c client.Confinement) (Plan, error) {
	f, err := readFacts(m.system(), c, Own, Kernel, m.environ)
	if err != nil {
		return Plan{}, err
	}
	return PlanFor(c, Own, f, []string{"true"})
}

// What stands by a link where dot files are kept is kept with the link, with
// those it passes, and with what it leads to where the program could write that.
func TestLinkedDotFiles(t *testing.T) {
	const repository = "/home/u/work/.git/HEAD\n/home/u/work/.git/objects/\n/home/u/work/.git/config: [core]\n"
	for name, c := range map[string]struct {
		on     string
		want   map[string]Verb
		kernel bool // bubblewrap refuses it
		opened []string
	}{
		"a repository elsewhere": {on: "/srv/git/HEAD\n/home/u/work/.git -> /srv/git\n", kernel: true,
			want: map[string]Verb{".git": Read}},
		"a repository in what is written": {on: "/home/u/work/store/deep/HEAD\n/home/u/work/.git -> store/deep\n", kernel: true,
			want: map[string]Verb{".git": Read, "store": Pin, "store/deep": Read}},
		"by another link": {on: "/home/u/work/a -> b/c\n/home/u/work/b/c/\n/home/u/work/.vscode -> a\n", kernel: true,
			want: map[string]Verb{".vscode": Read, "a": Read, "b": Pin, "b/c": Read}},
		"past a folder that it leaves": {on: "/home/u/work/x/y/\n/home/u/work/conf/\n/home/u/work/.idea -> x/y/../../conf\n", kernel: true,
			want: map[string]Verb{".idea": Read, "x/y": Pin, "x": Pin, "conf": Read}},
		"what is not there": {on: "/home/u/work/.envrc -> conf/envrc\n/home/u/work/conf/\n", kernel: true,
			want: map[string]Verb{".envrc": Read, "conf": Pin, "conf/envrc": Close}},
		"a repository opened": {on: "/home/u/work/store/HEAD\n/home/u/work/store/hooks/\n/home/u/work/.git -> store\n", kernel: true, opened: []string{"/home/u/work/.git"},
			want: map[string]Verb{".git": Read, "store": Pin, "store/hooks": Read, "store/config": Tell}},
		"a repository elsewhere, opened": {on: "/srv/git/HEAD\n/home/u/work/.git -> /srv/git\n", kernel: true, opened: []string{"/home/u/work/.git"},
			want: map[string]Verb{".git": Read}},
		"a repository opened, with hooks by a link": {on: repository + "/home/u/work/.git/hooks -> ../h\n/home/u/work/h/x\n", kernel: true, opened: []string{"/home/u/work/.git"},
			want: map[string]Verb{".git": Write, ".git/hooks": Read, "h": Read}},
		"a .envrc opened": {on: "/home/u/work/.envrc -> conf\n/home/u/work/conf\n", opened: []string{"/home/u/work/.envrc"},
			want: map[string]Verb{".envrc": 0, "conf": 0}},
		"hooks": {on: repository + "/home/u/work/.git/hooks -> ../tools/hooks\n/home/u/work/tools/hooks/pre-commit -> ../real\n/home/u/work/tools/real\n",
			want: map[string]Verb{".git": Read, "tools": Pin, "tools/hooks": Read, "tools/real": Read}},
		"hooks that are not there": {on: repository + "/home/u/work/.git/hooks -> ../tools\n",
			want: map[string]Verb{".git": Read, "tools": Close}},
		"a hook": {on: repository + "/home/u/work/.git/hooks/pre-commit -> ../../scripts/check\n/home/u/work/scripts/check\n",
			want: map[string]Verb{"scripts": Pin, "scripts/check": Read}},
		"a hook that is not there": {on: repository + "/home/u/work/.git/hooks/pre-commit -> ../../check\n",
			want: map[string]Verb{"check": Tell}},
		"a hook of hooksPath": {on: repository + "/home/u/work/.git/config: hooksPath = .hooks\n/home/u/work/.hooks/pre-commit -> ../check\n/home/u/work/check\n",
			want: map[string]Verb{".hooks": Read, "check": Read}},
		"a hook of husky's": {on: repository + "/home/u/work/.git/config: hooksPath = .husky/_\n/home/u/work/.husky/_/h\n/home/u/work/.husky/pre-commit -> ../check\n/home/u/work/check\n",
			want: map[string]Verb{".husky": Read, "check": Read}},
		"the configuration": {on: "/home/u/work/.git/HEAD\n/home/u/work/.git/config -> ../common\n/home/u/work/common: [core]\n/home/u/work/common: pager = ./p\n/home/u/work/p\n",
			want: map[string]Verb{"common": Read, "p": Read}},
		"attributes": {on: repository + "/home/u/work/.git/info -> ../info\n/home/u/work/info/attributes -> ../a\n/home/u/work/a\n",
			want: map[string]Verb{"info": Read, "a": Read}},
		"an editor's tasks": {on: "/home/u/work/.vscode/tasks.json -> ../tasks\n/home/u/work/tasks\n/home/u/work/.idea/run/x.xml -> ../../x\n/home/u/work/x\n/home/u/work/y\n",
			want: map[string]Verb{"tasks": Read, "x": Read, "y": 0}},
		"a configuration that passes a link": {on: repository + "/home/u/work/.git/config: hooksPath = l/hooks\n/home/u/work/l -> d\n/home/u/work/d/hooks/\n", kernel: true,
			want: map[string]Verb{"l": Read, "d/hooks": Read}},
		"a repository below": {on: "/home/u/work/sub/.git -> ../store\n/home/u/work/store/HEAD\n/home/u/work/store/hooks -> ../h\n/home/u/work/h/\n", kernel: true,
			want: map[string]Verb{"sub": Pin, "sub/.git": Read, "store": Read, "h": Read}},
	} {
		t.Run(name, func(t *testing.T) {
			confined := working(func(con *confinement) { con.WriteDotFiles = c.opened })
			p, err := made(debian + c.on).byKernel(confined)
			if err != nil {
				t.Fatal(err)
			}
			for at, want := range c.want {
				if got := verbAt(p, ledWork+"/"+at); got != want {
					t.Errorf("%s: %s, want %s", at, verbName(got), verbName(want))
				}
			}
			if len(p.Warnings) > 0 {
				t.Errorf("warnings %q", p.Warnings)
			}
			p, err = made(debian + c.on).plan(confined)
			for _, s := range p.Steps {
				if s.binds() && s.Is.Kind == Link {
					t.Errorf("bubblewrap is to bind the link %s", s.At)
				}
			}
			switch said := strings.Join(p.Warnings, "\n"); {
			case !c.kernel && (err != nil || said != ""):
				t.Errorf("by bubblewrap: %v %s", err, said)
			case c.kernel && err == nil && !strings.Contains(said, "cannot be kept from being replaced") && !strings.Contains(said, "bubblewrap cannot keep"):
				t.Errorf("by bubblewrap nothing is said:\n%s", p.Explain())
			case err != nil && !strings.Contains(err.Error(), "is a link, which bubblewrap cannot keep from being replaced"):
				t.Error(err)
			}
		})
	}
}

// A link to what is written as a whole, or to what cannot be looked at, is kept
// by nothing.
func TestLinkedAstray(t *testing.T) {
	for target, want := range map[string]string{
		".": "is a link to /home/u/work, which is written", "..": "is a link to /home/u, which is written",
		".idea": "is a link to what cannot be looked at", "shut/x": "is a link to what cannot be looked at",
	} {
		_, err := made(debian + "/home/u/work/.idea -> " + target + "\n/home/u/work/shut ?\n").byKernel(working(nil))
		if err == nil || !strings.Contains(err.Error(), "dot files: /home/u/work/.idea: "+want) {
			t.Errorf("%s: %v", target, err)
		}
	}
}
