package linuxwall

import (
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// Drawn once on the machine, a plan is the one that is drawn on what was read.
func TestPlanHere(t *testing.T) {
	s := newStage(t)
	s.write("home/work/.git/config", "[core]\n\thooksPath = hooks\n")
	s.mkdir("home/work/hooks")
	s.mkdir("home/work/sub/.git")
	s.mkdir("home/work/shut")
	c := s.confinement()
	c.Hide, c.ReadHome = []string{s.work + "/shut"}, true
	for _, only := range []client.Commands{client.AnyCommand(), client.OnlyCommands("/usr/bin/true")} {
		c.Commands = only
		for _, by := range []Maker{Kernel, Bubblewrap} {
			t.Chdir(s.work)
			f, err := ReadFacts(LocalSystem(), c, s.net, by, s.env)
			if err != nil {
				t.Fatal(err)
			}
			want, err := PlanFor(c, s.net, f, []string{"true"})
			if err != nil {
				t.Fatal(err)
			}
			got, err := PlanHere(LocalSystem(), c, s.net, by, s.env, []string{"true"})
			if err != nil || got.Explain() != want.Explain() || len(got.Steps) < 20 {
				t.Errorf("by %s: %v\n%s\nand not\n%s", by, err, got.Explain(), want.Explain())
			}
		}
	}
}
