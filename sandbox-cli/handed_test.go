package cli_test

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// The network of a proxied sandbox is made with the sandbox, and by a process
// in it where that cannot be: with ports that are served, or by bubblewrap.
func TestWhoMakesTheNetwork(t *testing.T) {
	for _, c := range []struct{ flags, step string }{
		{allow, "handed"},
		{allow + " --bubblewrap", "proxy-inside"},
		{allow + fmt.Sprint(" --serve ", freePort(t)), "proxy-inside"},
		{allow + " --processes 200", "proxy-inside"},
	} {
		t.Run(c.flags, func(t *testing.T) {
			s := newSandbox(t)
			argv := append([]string{lnk(), "sandbox", "run", "--yes", "--write=" + s.project}, strings.Fields(c.flags)...)
			cmd, errs := s.start(append(argv, "--", "sh", "-c", "echo up; exec sleep 60")...)
			defer func() {
				cmd.Process.Signal(syscall.SIGTERM)
				waitFor(t, cmd)
			}()
			var steps []string
			for _, pid := range descendants(cmd.Process.Pid) {
				if f := strings.Fields(commandLine(pid)); len(f) > 1 {
					steps = append(steps, f[1])
				}
			}
			if !slices.Contains(steps, c.step) {
				t.Errorf("the steps are %q, want %s; %s", steps, c.step, errs.String())
			}
		})
	}
}
