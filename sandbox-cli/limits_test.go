package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// groups are the cgroups of sandboxes that there are now.
func groups(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir("/sys/fs/cgroup", func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), "lnk-sandbox-") {
			found[path] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// What is used of the machine is bounded, or it is said that it is not.
func TestLimits(t *testing.T) {
	s := newSandbox(t)
	spec := filepath.Join(s.root, "limits.toml")
	if err := os.WriteFile(spec, []byte("[files]\nwrite = ['"+s.project+"']\n[limits]\nmemory = '64M'\nprocesses = 8\ntmp = '1M'\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	big := "import os\nx = bytearray(200 << 20)\nprint('BIG')"
	for _, net := range []string{"--port=1", "--memory=64M"} { // by the proxy, and without
		e := s.run("--spec="+spec, net, "--", "python3", "-c", big)
		if e.status == 0 || strings.Contains(e.out, "BIG") {
			t.Errorf("%s: more memory than its limit: status %d: %s", net, e.status, e.errors)
		}
		killed, each := strings.Contains(e.errors, "out of memory: limit 64M"), strings.Contains(e.errors, "memory: 64M for each process")
		if killed == each || killed && e.status != 137 {
			t.Errorf("%s: status %d: %s", net, e.status, e.errors)
		}
	}
	if out := s.must("--spec="+spec, "--memory=512M", "--", "python3", "-c", big); !strings.Contains(out, "BIG") {
		t.Errorf("below its limit: %q", out)
	}
	many := "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do sleep 2 & done; echo MANY; wait"
	switch e := s.run("--spec="+spec, "--", "sh", "-c", many); {
	case strings.Contains(e.errors, "processes: not limited"):
	case strings.Contains(e.out, "MANY"):
		t.Errorf("more processes than its limit: %s", e.errors)
	case os.Getuid() == 0 && !strings.Contains(e.errors, "lnk sandbox run: out of processes: limit 8: times that one more was refused: "):
		t.Errorf("that it was reached is not said: %s", e.errors)
	}
	if e := s.run("--spec="+spec, "--processes=40", "--", "sh", "-c", strings.ReplaceAll(many, "sleep 2", "true")); !strings.Contains(e.out, "MANY") {
		t.Errorf("below its limit: status %d: %s", e.status, e.errors)
	}
	if e := s.run("--spec="+spec, "--", "sh", "-c", "head -c 900000 /dev/zero > /tmp/x; sleep 0 & wait"); e.status != 0 || strings.Contains(e.errors, "out of") {
		t.Errorf("what was not reached is said: %s", e.errors)
	}
	for _, only := range [][]string{nil, {"--only=sh", "--only=head", "--only=wc"}} {
		for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm", "$HOME"} {
			e := s.run(append(append([]string{"--spec=" + spec}, only...), "--", "sh", "-c", "head -c 3000000 /dev/zero > "+dir+"/x; wc -c < "+dir+"/x")...)
			if strings.TrimSpace(e.out) != "1048576" {
				t.Errorf("%q: %s holds %s: %s", only, dir, e.out, e.errors)
			}
			if says := "lnk sandbox run: out of room in " + dir + ": limit 1M\n"; dir != "$HOME" && !strings.Contains(e.errors, says) {
				t.Errorf("%q: that %s is full is not said: %s", only, dir, e.errors)
			}
		}
	}
}

// A limit that is none gets one line, and nothing is started.
func TestLimitsRefused(t *testing.T) {
	s := newSandbox(t)
	for arg, says := range map[string]string{
		"--memory=4X":     `--memory "4X": want a size, as 512M or 4G`,
		"--memory=1M":     "want 16M or more",
		"--memory=":       "--memory: empty",
		"--processes=0":   "--processes 0: want 1",
		"--processes=-1":  "--processes -1: want 1",
		"--processes=two": `"two"`,
		"--cpu=2":         "want a share of processors, as 50% or 200%",
		"--tmp=1.5G":      "want a size",
	} {
		e := s.run(arg, "--", "touch", "started")
		if e.status != 125 || strings.Count(e.errors, "\n") != 1 || !strings.Contains(e.errors, says) {
			t.Errorf("%s: status %d: %s", arg, e.status, e.errors)
		}
	}
	if _, err := os.Stat(filepath.Join(s.project, "started")); err == nil {
		t.Error("the program was started")
	}
}

// No cgroup is left, when the sandbox ends and when all of ours is killed.
func TestLimitsLeaveNothing(t *testing.T) {
	s := newSandbox(t)
	before := groups(t)
	left := func() []string {
		var mine []string
		for g := range groups(t) {
			if !before[g] {
				mine = append(mine, g)
			}
		}
		return mine
	}
	for _, kill := range []bool{false, true} {
		cmd, _ := s.start(lnk(), "sandbox", "run", "--yes", "--write="+s.project, "--memory=64M", "--processes=50", "--cpu=90%", "--", "sh", "-c", "echo up; exec sleep 60")
		if os.Getuid() == 0 && len(left()) == 0 {
			t.Error("root's sandbox has no cgroup")
		}
		if kill {
			cmd.Process.Kill()
		} else {
			cmd.Process.Signal(syscall.SIGTERM)
		}
		cmd.Wait()
		for end := time.Now().Add(hangGuard / 4); len(left()) > 0; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("killed %v: left %q", kill, left())
			}
		}
	}
}
