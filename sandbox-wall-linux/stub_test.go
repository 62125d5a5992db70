package linuxwall

import (
	"slices"
	"testing"
)

// What another run made to stand in for what is missing is held by this one
// too, and told from what somebody made.
func TestStubsOfOthers(t *testing.T) {
	const work = "/home/u/work"
	marked := func(lines string, paths ...string) *machine {
		m := made(debian + lines)
		for _, p := range paths {
			m.mode(p, 0o1755)
		}
		return m
	}
	for _, c := range []struct {
		name   string
		on     *machine
		change func(*confinement)
		path   string
		held   bool
	}{
		{"a dot folder", marked(work+"/.envrc/\n", work+"/.envrc"), nil, work + "/.envrc", true},
		{"somebody's empty one", marked(work + "/.envrc/\n"), nil, work + "/.envrc", false},
		{"one with something in it", marked(work+"/.envrc/x\n", work+"/.envrc"), nil, work + "/.envrc", false},
		{"hidden", marked(work+"/later/\n", work+"/later"), func(c *confinement) { c.Hide = []string{work + "/later"} }, work + "/later", true},
		{"hidden deeper", marked(work+"/x/\n", work+"/x"), func(c *confinement) { c.Hide = []string{work + "/x/y/later"} }, work + "/x", true},
		{"hidden in somebody's", marked(work + "/x/\n"), func(c *confinement) { c.Hide = []string{work + "/x/y/later"} }, work + "/x/y", true},
		{"a commondir", marked(work+"/.git/HEAD\n"+work+"/.git/commondir: .\n", work+"/.git/commondir"),
			func(c *confinement) { c.WriteDotFiles = []string{work + "/.git"} }, work + "/.git/commondir", true},
		{"a commondir that says more", marked(work+"/.git/HEAD\n"+work+"/.git/commondir: ../../evil\n", work+"/.git/commondir"),
			func(c *confinement) { c.WriteDotFiles = []string{work + "/.git"} }, work + "/.git/commondir", false},
		{"hooks", marked(work+"/.git/HEAD\n"+work+"/.git/hooks/\n", work+"/.git/hooks"),
			func(c *confinement) { c.WriteDotFiles = []string{work + "/.git"} }, work + "/.git/hooks", true},
		{"modules", marked(work+"/.git/HEAD\n"+work+"/.git/modules/\n", work+"/.git/modules"),
			func(c *confinement) { c.WriteDotFiles = []string{work + "/.git"} }, work + "/.git/modules", true},
		{"other settings", marked("/root2/.lnk/\n", "/home/u/.lnk").env("HOME=/home/u", "LNK_HOME=/root2/.lnk"),
			func(c *confinement) { c.Write = []string{"/home/u"} }, "/home/u/.lnk", true},
		{"the settings in use", marked("", "/home/u/.lnk"), func(c *confinement) { c.Write = []string{"/home/u"} }, "/home/u/.lnk", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.on.mustPlan(t, working(c.change))
			if got := slices.ContainsFunc(p.Placeholders, func(h Placeholder) bool { return h.Path == c.path }); got != c.held {
				t.Errorf("held: %v, want %v\n%s", got, c.held, p.Explain())
			}
			if got := verbAt(p, c.path); got != Close && got != Read && got != Tell {
				t.Errorf("it is not protected: %s", verbName(got))
			}
		})
	}
}

// Settings that are not in use stay closed too, also where they could only be
// made from outside, while the sandbox runs.
func TestOtherSettingsStayClosed(t *testing.T) {
	m := made(debian).remove("/home/u/.lnk").env("LNK_HOME=/srv/lnk")
	p := m.mustPlan(t, working(func(c *confinement) { c.Write, c.ReadHome = nil, true }))
	if got := verbAt(p, "/home/u/.lnk"); got != Close {
		t.Errorf("%s\n%s", verbName(got), p.Explain())
	}
	if len(p.Placeholders) != 1 || p.Placeholders[0].Path != "/home/u/.lnk" || len(p.Make) > 0 {
		t.Errorf("placeholders %+v, make %q", p.Placeholders, p.Make)
	}
}

func TestWants(t *testing.T) {
	m := made(debian + "/home/u/work/.git/HEAD\n")
	p := m.mustPlan(t, working(func(c *confinement) { c.WriteDotFiles = []string{"/home/u/work/.git"} }))
	wants := p.Wants()
	if len(wants) != len(p.Placeholders) || len(wants) < 6 {
		t.Fatalf("%d wants, %d placeholders", len(wants), len(p.Placeholders))
	}
	for i, w := range wants {
		above := m.nodes[parent(w.Path)]
		if w.Path != p.Placeholders[i].Path || w.In.Dev != above.Dev || w.In.Ino != above.Ino || w.In.Ino == 0 {
			t.Errorf("%+v, for %+v", w, p.Placeholders[i])
		}
		if file := base(w.Path) == "commondir"; file && (!w.File || w.Text != ".\n") {
			t.Errorf("%+v", w)
		}
	}
}
