package linuxwall

import (
	"slices"
	"strings"
	"testing"
)

// The go command is told to pass an empty .git over where one is held, and is
// told nothing where it can be told otherwise.
func TestEnviron(t *testing.T) {
	none := made(debian)
	there := made(debian + "/home/u/work/.git/HEAD\n")
	for _, c := range []struct {
		name   string
		on     *machine
		change func(*confinement)
		env    []string
		told   bool
	}{
		{"no repository", none, nil, nil, true},
		{"its own home", none, nil, []string{"HOME=/home/u"}, true},
		{"an empty GOFLAGS", none, nil, []string{"GOFLAGS="}, false},
		{"GOFLAGS", none, nil, []string{"GOFLAGS=-mod=mod"}, false},
		{"a repository", there, nil, nil, false},
		{"one that may be made", none, func(c *confinement) { c.WriteDotFiles = c.Write }, nil, false},
		{"the home in view", none, func(c *confinement) { c.ReadHome = true }, []string{"HOME=/home/u"}, false},
		{"its file in view", none, nil, []string{"HOME=/home/u", "GOENV=/home/u/work/go.env"}, false},
		{"its settings in view", none, nil, []string{"HOME=/home/u", "XDG_CONFIG_HOME=/etc/xdg"}, false},
		{"its file off", none, func(c *confinement) { c.ReadHome = true }, []string{"HOME=/home/u", "GOENV=off"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.on.mustPlan(t, working(c.change))
			env := p.Environ(c.env)
			if got := slices.Contains(env, "GOFLAGS=-buildvcs=false"); got != c.told || !slices.Equal(env[:len(c.env)], c.env) {
				t.Errorf("%q of %q, want told %v", env, c.env, c.told)
			}
		})
	}
}

// Root's tar is told that the owners of an archive are not its own.
func TestEnvironOfRoot(t *testing.T) {
	const told = "TAR_OPTIONS=--no-same-owner"
	for _, c := range []struct {
		uid  int
		env  []string
		told bool
	}{
		{0, nil, true},
		{0, []string{"TAR_OPTIONS="}, false},
		{0, []string{"TAR_OPTIONS=--same-owner"}, false},
		{1000, nil, false},
	} {
		m := made(debian)
		m.uid = c.uid
		p := m.mustPlan(t, working(nil))
		if env := p.Environ(c.env); slices.Contains(env, told) != c.told || !slices.Equal(env[:len(c.env)], c.env) {
			t.Errorf("user %d: %q of %q, want told %v", c.uid, env, c.env, c.told)
		}
	}
}

// Screen is told of a folder for its sockets where the temporary one is the
// sandbox's own.
func TestEnvironOfScreen(t *testing.T) {
	for _, c := range []struct {
		change func(*confinement)
		env    []string
		told   string
	}{
		{nil, nil, "SCREENDIR=/tmp/.screen"},
		{nil, []string{"TMPDIR=/tmp/x"}, "SCREENDIR=/tmp/x/.screen"},
		{nil, []string{"TMPDIR="}, "SCREENDIR=/tmp/.screen"},
		{nil, []string{"SCREENDIR=/home/u/work/s"}, ""},
		{func(c *confinement) { c.Write = []string{"/tmp"} }, nil, ""},
	} {
		told := ""
		p := made(debian).mustPlan(t, working(c.change))
		for _, v := range p.Environ(c.env)[len(c.env):] {
			if strings.HasPrefix(v, "SCREENDIR=") {
				told = v
			}
		}
		if told != c.told {
			t.Errorf("%q: %q, want %q", c.env, told, c.told)
		}
	}
}

// Git is told to look past folders of the sandbox's own where a repository is in
// view behind them, and nowhere else.
func TestEnvironOfGit(t *testing.T) {
	const name = "GIT_DISCOVERY_ACROSS_FILESYSTEM"
	const repository = "/home/u/work/.git/HEAD\n/home/u/work/sub/dir/\n"
	for _, c := range []struct {
		name, dir   string
		read, write []string
		env         []string
		told        bool
	}{
		{name: "the repository is not in view"},
		{name: "it is read", read: []string{"/home/u/work/.git"}, told: true},
		{name: "it is written", write: []string{"/home/u/work/.git"}, told: true},
		{name: "all above is read", read: []string{"/home/u/work"}},
		{name: "it is said", read: []string{"/home/u/work/.git"}, env: []string{name + "=0"}},
		{name: "the current folder is beside it", dir: "/home/u/other", read: []string{"/home/u/work/.git"}, write: []string{"/home/u/other"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := made(debian + repository + "/home/u/other/\n")
			if m.dir = c.dir; c.dir == "" {
				m.dir = "/home/u/work/sub/dir"
			}
			p := m.mustPlan(t, working(func(is *confinement) {
				is.Read, is.Write = c.read, append([]string{"/home/u/work/sub/dir"}, c.write...)
			}))
			if got := slices.Contains(p.Environ(c.env), name+"=1"); got != c.told {
				t.Errorf("told %v, want %v\n%s", got, c.told, p.Explain())
			}
		})
	}
}
