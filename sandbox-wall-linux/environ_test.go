package linuxwall

import (
	"slices"
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
