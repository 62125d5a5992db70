package stages

import (
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/landlock"
)

// On a terminal a program is in its caller's process group: it cannot signal
// that, by the kernel's scope or where there is none by the filter.
func TestGroupOfTheCaller(t *testing.T) {
	for _, c := range []struct{ terminal, scope, want bool }{
		{true, false, true}, {true, true, false}, {false, false, false}, {false, true, false},
	} {
		w := walling{wallFlags: wallFlags{c: client.Confinement{Terminal: c.terminal}}}
		if got := w.filter(&linuxwall.Plan{}, landlock.Scoped{Signals: c.scope}).NoGroupSignal; got != c.want {
			t.Errorf("terminal %v, scope %v: %v", c.terminal, c.scope, got)
		}
	}
}
