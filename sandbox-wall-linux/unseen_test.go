package linuxwall

import (
	"strings"
	"testing"
)

// A settings folder that this user may not look at stops nothing, unless it is
// the one in use.
func TestSettingsUnseen(t *testing.T) {
	for variable, says := range map[string]string{
		"HOME=/home/u":        "",
		"HOME=/root":          "/root/.lnk: cannot be looked at",
		"LNK_HOME=/root/.lnk": "/root/.lnk: cannot be looked at",
	} {
		m := made(debian + "/root/.lnk ?\n").env(variable)
		m.uid = 0
		c := working(nil)
		facts, err := readFacts(m.system(), c, Own, Bubblewrap, m.environ)
		if err != nil {
			t.Fatal(err)
		}
		_, err = PlanFor(c, Own, facts, []string{"true"})
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v, want %q", variable, err, says)
		}
	}
}
