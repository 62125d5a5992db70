package cli_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// However far a start has come, and whichever of its processes is killed then,
// nothing is left: no process, no mount, no socket, no stub, no record and no
// lock. How far is counted in processes that are there; at the last stage the
// program is among them.
func TestKillWalk(t *testing.T) {
	for _, net := range [][]string{nil, {allow}} {
		whole := 0
		t.Run(fmt.Sprintf("%q whole", net), func(t *testing.T) {
			w := newWalk(t, net)
			defer w.end()
			whole = len(w.reach(1<<20, true))
		})
		if whole < 4 {
			t.Fatalf("%q: only %d processes", net, whole)
		}
		type kill struct{ there, victim int }
		var table []kill
		for there := 1; there <= whole; there++ {
			for victim := range min(there, whole-1) { // but for the program's child
				table = append(table, kill{there, victim})
			}
		}
		// Two at a time: as many as there are processors for.
		t.Run(fmt.Sprintf("%q", net), func(t *testing.T) {
			for _, k := range table {
				t.Run(fmt.Sprintf("%d of %d", k.victim+1, k.there), func(t *testing.T) {
					t.Parallel()
					w := newWalk(t, net)
					family := w.reach(k.there, k.there == whole)
					w.kill(family[min(k.victim, len(family)-1)])
					w.nothingLeft()
				})
			}
		})
	}
}

// A walk is one start that is cut off.
type walk struct {
	*sandbox
	cmd     *exec.Cmd
	before  string
	other   string // another folder
	mark    string // a word of the program's command line
	watched bool   // the watch over what is left was there, and was not the victim
}

func newWalk(t *testing.T, net []string) *walk {
	w := &walk{sandbox: newSandbox(t)}
	w.before, w.mark, w.other = listing(t, w.project), filepath.Base(w.root), filepath.Join(w.root, "other")
	if err := os.Mkdir(w.other, 0o755); err != nil {
		t.Fatal(err)
	}
	argv := append([]string{"sandbox", "run", "--yes", "--write=" + w.project}, net...)
	// The mark is the shell's $0.
	argv = append(argv, "--", "sh", "-c", "echo up; while :; do sleep 60; done", w.mark)
	w.cmd = exec.Command(lnk(), argv...)
	w.cmd.Dir, w.cmd.Env = w.project, w.env()
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.cmd.Process.Kill() })
	return w
}

// reach waits until so many processes are there, or, settled, until the
// program is, and gives them, parents first.
func (w *walk) reach(there int, settled bool) []int {
	w.t.Helper()
	var family []int
	for end := time.Now().Add(hangGuard / 2); time.Now().Before(end); {
		family = descendants(w.cmd.Process.Pid)
		if !settled && len(family) >= there || settled && slices.ContainsFunc(family, w.isProgram) {
			return family
		}
		if settled {
			time.Sleep(2 * time.Millisecond)
		}
	}
	w.t.Fatalf("the start did not come so far: %d processes", len(family))
	return nil
}

// isProgram also wants the program to have a child: then it is what it will be.
func (w *walk) isProgram(pid int) bool {
	return strings.HasPrefix(commandLine(pid), "sh -c echo up") && len(descendants(pid)) > 1
}

func commandLine(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.ReplaceAll(string(b), "\x00", " ")
}

func (w *walk) kill(victim int) {
	w.t.Helper()
	for _, pid := range descendants(w.cmd.Process.Pid) {
		w.watched = w.watched || pid != victim && strings.Contains(commandLine(pid), " sweep ")
	}
	syscall.Kill(victim, syscall.SIGKILL)
	// A process that had ended by itself leaves the start to go on.
	ended := make(chan struct{})
	go func() { w.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(3 * time.Second):
		w.cmd.Process.Kill()
		<-ended
	}
}

func (w *walk) end() {
	w.kill(w.cmd.Process.Pid)
	w.nothingLeft()
}

func (w *walk) nothingLeft() {
	w.t.Helper()
	gone(w.t, w.mark)
	if mounts, _ := os.ReadFile("/proc/self/mountinfo"); strings.Contains(string(mounts), w.root) {
		w.t.Errorf("a mount is left: %s", mounts)
	}
	if sockets, _ := os.ReadFile("/proc/net/unix"); strings.Contains(string(sockets), w.root) {
		w.t.Errorf("a socket is left: %s", sockets)
	}
	if !w.watched {
		// Cut off before there was a watch, or with it: the next start, of any
		// sandbox, takes away what it left.
		w.must("--write="+w.other, "--", "true")
	}
	eventually(w.t, func() error {
		if after := listing(w.t, w.project); after != w.before {
			return fmt.Errorf("left in the project: %s", after)
		}
		return w.settingsAtRest()
	})
}

// settingsAtRest says what of a start is still in the settings.
func (w *walk) settingsAtRest() error {
	return filepath.WalkDir(filepath.Join(w.home, ".lnk"), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // gone meanwhile, or never made
		case d.Type()&fs.ModeSocket != 0, strings.HasSuffix(path, ".run"):
			return fmt.Errorf("left in the settings: %s", path)
		case d.Name() == "lock" || strings.HasSuffix(path, ".lock"):
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
				return fmt.Errorf("%s is held: %w", path, err)
			}
		}
		return nil
	})
}
