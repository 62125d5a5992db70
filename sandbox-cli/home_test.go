package cli_test

import (
	"os"
	"strings"
	"testing"
)

// A home that is not there, as daemons' users have it: nothing is made of it,
// and what needs settings says where to keep them instead.
func TestHomeOfNobody(t *testing.T) {
	const home = "/lnk-nobody-makes-this/home"
	s := newSandbox(t)
	for _, args := range [][]string{{"--write=" + s.project}, {"--bubblewrap", "--write=" + s.project}} {
		e := s.command("", append(append([]string{lnk(), "sandbox", "run", "--yes"}, args...), "--", "true"), "HOME="+home)
		if e.status != 125 || !strings.Contains(e.errors, "have LNK_HOME name") || strings.Count(e.errors, "\n") != 1 {
			t.Errorf("%q: status %d: %s", args, e.status, e.errors)
		}
	}
	if _, err := os.Stat("/lnk-nobody-makes-this"); err == nil {
		os.RemoveAll("/lnk-nobody-makes-this")
		t.Error("the home was made")
	}
}
