package launch

import (
	"os"
	"strings"
	"testing"
)

// Who holds the far side of a terminal types on it: to the shell that is there.
func TestTerminalsFarSide(t *testing.T) {
	each(t, func(t *testing.T, by maker) {
		master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer master.Close()
		o := sh("echo started")
		o.By = by
		cmd := o.command(t)
		cmd.Stdin = master
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "standard input: is the far side of a terminal") {
			t.Errorf("%v, %q", err, out)
		}
	})
}
