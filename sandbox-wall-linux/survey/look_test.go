package survey

import (
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// tree makes a lister of lines: a path with a slash at its end is a folder, one
// with = a socket, with @ a link, with ! a folder that may not be listed.
func tree(lines string) func(string) ([]Entry, bool) {
	kinds := map[string]Kind{"/": Folder}
	shut := map[string]bool{}
	for _, line := range strings.Fields(lines) {
		at, kind := line, File
		switch line[len(line)-1] {
		case '/':
			at, kind = line[:len(line)-1], Folder
		case '=':
			at, kind = line[:len(line)-1], Socket
		case '@':
			at, kind = line[:len(line)-1], Link
		case '!':
			at, kind = line[:len(line)-1], Folder
			shut[at] = true
		}
		for up := path.Dir(at); up != "/"; up = path.Dir(up) {
			kinds[up] = Folder
		}
		kinds[at] = kind
	}
	return func(dir string) ([]Entry, bool) {
		var entries []Entry
		for at, kind := range kinds {
			if path.Dir(at) == dir && at != "/" {
				entries = append(entries, Entry{path.Base(at), kind})
			}
		}
		slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
		return entries, shut[dir]
	}
}

func TestLook(t *testing.T) {
	for _, c := range []struct {
		name, lines   string
		roots, except []string
		want          Found
	}{
		{"repositories of every kind", "/w/.git/config /w/a/.git /w/b/c/.git@ /w/bare/HEAD /w/bare/objects/ /w/bare/refs/ /w/no/HEAD /w/no/objects/", []string{"/w"}, nil,
			Found{Repositories: []Repository{{Path: "/w/.git"}, {Path: "/w/a/.git"}, {Path: "/w/bare", Bare: true}, {Path: "/w/b/c/.git"}}}},
		{"none in a repository's own folder", "/w/.git/modules/m/.git/", []string{"/w"}, nil, Found{Repositories: []Repository{{Path: "/w/.git"}}}},
		{"three files hide nothing", "/w/HEAD /w/objects /w/refs /w/.git/ /w/sub/.git/ /w/sub/.envrc /w/s=", []string{"/w"}, nil,
			Found{Repositories: []Repository{{Path: "/w", Bare: true}, {Path: "/w/.git"}, {Path: "/w/sub/.git"}}, Beside: []string{"/w/sub/.envrc"}, Watched: []string{"/w/sub/.envrc"}, Sockets: []string{"/w/s"}}},
		{"nor does what a bare repository keeps, looked at last", "/w/x/HEAD /w/x/objects/a/.git/ /w/x/refs/.git/ /w/x/z/y/.git/", []string{"/w"}, nil,
			Found{Repositories: []Repository{{Path: "/w/x", Bare: true}, {Path: "/w/x/z/y/.git"}, {Path: "/w/x/refs/.git"}, {Path: "/w/x/objects/a/.git"}}}},
		{"a root that is bare", "/w/HEAD /w/objects/ /w/refs/", []string{"/w"}, nil, Found{Repositories: []Repository{{Path: "/w", Bare: true}}}},
		{"beside", "/w/a/.git/ /w/a/.envrc /w/b/.envrc", []string{"/w"}, nil,
			Found{Repositories: []Repository{{Path: "/w/a/.git"}}, Beside: []string{"/w/a/.envrc"}, Watched: []string{"/w/a/.envrc", "/w/b/.envrc"}}},
		{"sockets", "/w/a/s= /w/.git=", []string{"/w"}, nil, Found{Sockets: []string{"/w/.git", "/w/a/s"}}},
		{"what tools act on", "/w/.cargo/config.toml /w/.cargo/other /w/.github/x /w/a/.husky/pre /w/.mcp.json", []string{"/w"}, nil,
			Found{Watched: []string{"/w/.cargo/config", "/w/.cargo/config.toml", "/w/.github/workflows", "/w/.github/actions", "/w/.mcp.json", "/w/a/.husky"}}},
		{"what is acted on at a repository's top alone", "/w/p/.github/workflows/x /w/p/lefthook.yml /w/r/.git/ /w/r/.github/x /w/r/.circleci /w/f/.git /w/f/.gitlab-ci.yml", []string{"/w"}, nil,
			Found{Repositories: []Repository{{Path: "/w/f/.git"}, {Path: "/w/r/.git"}}, Watched: []string{"/w/f/.gitlab-ci.yml", "/w/r/.circleci", "/w/r/.github/workflows", "/w/r/.github/actions"}}},
		{"of agents, editors and other tools", "/w/.opencode/plugins/x.ts /w/.agents/x /w/.hg/store/ /w/.yarnrc /w/p/.opencode/x /w/p/.helix/languages.toml /w/p/.mvn/jvm.config", []string{"/w"}, nil,
			Found{Watched: []string{"/w/.agents", "/w/.hg/hgrc", "/w/.hg/hgrc-not-shared", "/w/.opencode", "/w/.yarnrc", "/w/p/.helix", "/w/p/.mvn"}}},
		{"left out", "/w/a/.git/ /w/b/.git/ /w/c/.git/", []string{"/w"}, []string{"/w/a", "/w/b/.git"}, Found{Repositories: []Repository{{Path: "/w/c/.git"}}}},
		{"a root in another", "/w/a/x/.git/ /w/b/.git/", []string{"/w", "/w/a"}, nil, Found{Repositories: []Repository{{Path: "/w/b/.git"}, {Path: "/w/a/x/.git"}}}},
		{"a root left out", "/w/a/.git/", []string{"/w"}, []string{"/w"}, Found{}},
		{"links are not followed", "/w/l@", []string{"/w"}, nil, Found{}},
		{"shut", "/w/a! /w/b/.git/", []string{"/w"}, nil, Found{Repositories: []Repository{{Path: "/w/b/.git"}}, Shut: []string{"/w/a"}}},
		{"put off", "/w/node_modules/.git/ /w/z/y/.git/", []string{"/w"}, nil, Found{Repositories: []Repository{{Path: "/w/z/y/.git"}, {Path: "/w/node_modules/.git"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Look(tree(c.lines), Order{Roots: c.roots, Except: c.except})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whenever the time is up, what was not looked at is named: nothing is left out
// in silence.
func TestUnseen(t *testing.T) {
	const lines = "/w/a/b/.git/ /w/c/.git/ /w/node_modules/x/y/.git/ /w/node_modules/z/.git/ /v/.git/"
	whole := Look(tree(lines), Order{Roots: []string{"/w", "/v"}})
	if len(whole.Repositories) != 5 || whole.Unseen != nil {
		t.Fatalf("%+v", whole)
	}
	for steps := range 12 {
		left := steps
		got := Look(tree(lines), Order{Roots: []string{"/w", "/v"}, Late: func() bool { left--; return left < 0 }})
		for _, r := range whole.Repositories {
			if !slices.Contains(got.Repositories, r) && !isBelow(r.Path, got.Unseen) {
				t.Errorf("after %d folders %s is neither found nor said to be unseen: %+v", steps, r.Path, got)
			}
		}
		// By then all others were gone through; it is named once.
		if steps >= 5 && steps <= 8 && !slices.Equal(got.Unseen, []string{"/w/node_modules"}) {
			t.Errorf("unseen are %q", got.Unseen)
		}
	}
}

func TestCompare(t *testing.T) {
	dir := func(ino uint64) Stamp { return Stamp{Kind: Folder, Ino: ino} }
	file := func(ino uint64, changed int64) Stamp { return Stamp{Kind: File, Ino: ino, Changed: changed} }
	for _, c := range []struct {
		name          string
		before, after Marks
		unseen, later []string
		want          []Change
	}{
		{"nothing", Marks{"/a": file(1, 1), "/d": dir(2)}, Marks{"/a": file(1, 1), "/d": dir(2)}, nil, nil, nil},
		{"made", nil, Marks{"/d": dir(1), "/d/f": file(2, 1), "/e/f": file(3, 1)}, nil, nil, []Change{{Path: "/d", What: "was made"}, {Path: "/e/f", What: "was made"}}},
		{"changed", Marks{"/a": file(1, 1)}, Marks{"/a": file(1, 2)}, nil, nil, []Change{{Path: "/a", What: "was changed"}}},
		{"in a folder", Marks{"/d": dir(1), "/d/f": file(2, 1)}, Marks{"/d": dir(1), "/d/f": file(2, 2)}, nil, nil, []Change{{Path: "/d/f", What: "was changed"}}},
		{"a folder replaced", Marks{"/d": dir(1), "/d/f": file(2, 1)}, Marks{"/d": dir(3), "/d/f": file(4, 1)}, nil, nil, []Change{{Path: "/d", What: "was replaced"}}},
		{"a file for a folder", Marks{"/d": dir(1)}, Marks{"/d": file(1, 1)}, nil, nil, []Change{{Path: "/d", What: "was changed"}}},
		{"a link led elsewhere", Marks{"/l": {Kind: Link, Target: "a"}}, Marks{"/l": {Kind: Link, Target: "b"}}, nil, nil, []Change{{Path: "/l", What: "was changed"}}},
		{"git's comes first", nil, Marks{"/a": file(1, 1), "/z/.git": {Kind: Folder, Ino: 2, Git: true}}, nil, nil, []Change{{Path: "/z/.git", What: "was made", Git: true}, {Path: "/a", What: "was made"}}},
		{"removed", Marks{"/d": dir(1), "/d/f": file(2, 1)}, Marks{}, nil, nil, []Change{{Path: "/d", What: "was removed"}}},
		{"unseen before", nil, Marks{"/u/f": file(1, 1), "/u2": file(2, 1)}, []string{"/u"}, nil, []Change{{Path: "/u2", What: "was made"}}},
		{"unseen after", Marks{"/u/f": file(1, 1)}, nil, nil, []string{"/u"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Compare(c.before, c.after, c.unseen, c.later)); diff != "" && len(c.want)+strings.Count(diff, "Change{") > 0 {
				t.Error(diff)
			}
		})
	}
}

// A folder that is not listed by the end is one that was not reached, and what
// was found before it stands. What comes of it later changes nothing.
func TestGivenUp(t *testing.T) {
	asked, answer, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	w := begin(func(dir string) ([]Entry, bool) {
		switch dir {
		case "/w":
			return []Entry{{".git", Folder}, {"dead", Folder}, {"more", Folder}}, false
		case "/w/dead":
			close(asked)
			<-answer
		}
		return []Entry{{".git", Folder}}, false
	}, Order{Roots: []string{"/w"}})
	go func() { defer close(ended); w.run() }()
	<-asked
	got := w.giveUp()
	close(answer)
	<-ended
	want := Found{Repositories: []Repository{{Path: "/w/.git"}}, Unseen: []string{"/w/dead", "/w/more"}}
	for _, found := range []Found{got, w.found} {
		if diff := cmp.Diff(want, found); diff != "" {
			t.Error(diff)
		}
	}
}

// A walk that the kernel keeps is waited for no longer than said, and one that
// ends is.
func TestWithin(t *testing.T) {
	stuck := make(chan struct{})
	defer close(stuck)
	list, o := tree("/w/.git/"), Order{Roots: []string{"/w"}}
	if diff := cmp.Diff(Found{Unseen: []string{"/w"}}, begin(list, o).within(0, func() { <-stuck })); diff != "" {
		t.Error(diff)
	}
	w := begin(list, o)
	if diff := cmp.Diff(Found{Repositories: []Repository{{Path: "/w/.git"}}}, w.within(time.Hour, w.run)); diff != "" {
		t.Error(diff)
	}
}
