package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Programs that leave somebody behind in a process group of his own and have the
// job stopped: by stopping themselves, or as one that reads from behind another.
var stoppers = map[string]string{
	"itself": "os.kill(os.getpid(), signal.SIGSTOP)\n",
	"behind": "if os.fork() == 0:\n" +
		"  signal.signal(signal.SIGTTOU, signal.SIG_IGN); os.setpgid(0, 0); os.tcsetpgrp(0, os.getpgrp())\n" +
		"  while True: signal.pause()\n" +
		"while os.tcgetpgrp(0) == os.getpgrp(): time.sleep(0.001)\n" +
		"os.read(0, 1)\n",
}

// A sandbox that is stopped with its job in the shell goes on being watched: what
// is no reason leaves it stopped, and with a mount that is lost it is ended.
func TestMountLostWhileStopped(t *testing.T) {
	for how, stops := range stoppers {
		for _, by := range []maker{kernel, shielded} {
			if how == "behind" && by == shielded {
				continue // it does not matter to how we are stopped
			}
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			file, other := dir+"/f", dir+"/g"
			replace := func(at string) {
				t.Helper()
				if err := os.WriteFile(at+"~", nil, 0o644); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(at+"~", at); err != nil {
					t.Fatal(err)
				}
			}
			replace(file)
			replace(other)
			name := tag(t)
			o := order{Argv: []string{"python3", "-Sc", "import os, signal, time\n" +
				"if os.fork() == 0:\n  os.setsid()\n  while True: signal.pause()\n" + stops}, Terminal: true, By: by, Mounted: file}
			o.Env = []string{"MARK=" + name}
			o.Args = []string{"--bind", dir, dir, "--ro-bind", file, file, "--ro-bind", other, other}
			c := onShell(t, o)
			c.typed("r\n")
			c.expect("Stopped")
			runner := 0
			eventually(t, how+": a guard", func() bool {
				for _, pid := range children(c.cmd.Process.Pid) {
					if guardOf(pid) != 0 {
						runner = pid
					}
				}
				return runner != 0
			})
			before := guardOf(runner)
			replace(other)
			eventually(t, how+": another guard", func() bool {
				now := guardOf(runner)
				p, err := statusOf(runner)
				return now != 0 && now != before && err == nil && p.stopped()
			})
			replace(file)
			c.expect("error: the sandbox was ended: " + file + " is gone")
			eventually(t, how+": the end", func() bool { // of all but the shell, whose variable names it
				left := living(t, name)
				return len(left) == 1 && left[0] == c.cmd.Process.Pid
			})
			c.cmd.Process.Kill()
		}
	}
}

// guardOf gives the process that watches for one that is stopped, or 0.
func guardOf(pid int) int {
	for _, child := range childrenOfThreads(pid) {
		if text, _ := procText(child, "comm"); strings.TrimSpace(text) == "lnk guard" {
			return child
		}
	}
	return 0
}
