package linuxwall

import (
	"strings"
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// A current folder that the program may not enter is told of: it starts where it
// can write.
func TestShutDir(t *testing.T) {
	m := made(debian + "/home/u/work/shut/\n").in("/home/u/work/shut")
	if p := m.mustPlan(t, working(nil)); p.Dir != "/home/u/work/shut" || len(p.Warnings) != 0 {
		t.Errorf("starts in %s, warnings %q", p.Dir, p.Warnings)
	}
	for _, pwd := range []string{"", "PWD=/home/u/l/shut"} {
		m := made(debian+"/home/u/work/shut/\n/home/u/l -> work\n").in("/home/u/work/shut").mode("/home/u/work/shut", 0)
		m.environ = append(m.environ, pwd)
		p := m.mustPlan(t, working(nil))
		if want := "the current folder /home/u/work/shut may not be entered by the program: the program starts in /home/u/work"; p.Dir != "/home/u/work" || strings.Join(p.Warnings, "") != want {
			t.Errorf("starts in %s, warnings %q", p.Dir, p.Warnings)
		}
	}
	// Nor does it start there, or below, because that is what it writes.
	only := func(c *client.Confinement) { c.Write = []string{"/home/u/work/shut", "/home/u/work/shut/below"} }
	m = made(debian+"/home/u/work/shut/below/\n").in("/home/u/work/shut").mode("/home/u/work/shut", 0)
	if p := m.mustPlan(t, working(only)); p.Dir != "/" || !strings.HasSuffix(strings.Join(p.Warnings, ""), ": the program starts in /") {
		t.Errorf("starts in %s, warnings %q", p.Dir, p.Warnings)
	}
}
