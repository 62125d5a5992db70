package limits

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

var some = client.Limits{Memory: 64 << 20, Processes: 20, CPU: 50}

// Where no group can be made, what a resource limit can hold is held so, and
// the rest is said.
func TestWithoutGroup(t *testing.T) {
	for uid, want := range map[int][]string{
		1000: {"memory: 64M for each process", "cpu: not limited"},
		0:    {"memory: 64M for each process", "processes: not limited", "cpu: not limited"},
	} {
		g := makeIn(some, nil, uid)
		if len(g.Notes()) != len(want) || len(g.Dirs()) != 0 {
			t.Fatalf("%d: %q %q", uid, g.Notes(), g.Dirs())
		}
		for i, note := range g.Notes() {
			if !strings.HasPrefix(note, want[i]) || (uid == 0) == strings.Contains(note, "as root") {
				t.Errorf("%d: %q, want %q", uid, note, want[i])
			}
		}
	}
	sleep := exec.Command("sleep", "60")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	defer sleep.Wait()
	defer sleep.Process.Kill()
	if err := makeIn(some, nil, 1000).Hold(sleep.Process.Pid); err != nil {
		t.Fatal(err)
	}
	held, err := os.ReadFile("/proc/" + strconv.Itoa(sleep.Process.Pid) + "/limits")
	if err != nil {
		t.Fatal(err)
	}
	for line, value := range map[string]string{"Max data size": "67108864", "Max processes": "21"} {
		_, rest, _ := strings.Cut(string(held), line)
		if f := strings.Fields(rest); len(f) < 2 || f[0] != value || f[1] != value {
			t.Errorf("%s: %.60q, want %s", line, rest, value)
		}
	}
}

// A folder that is no cgroup gets nothing, and is not left.
func TestNoControllers(t *testing.T) {
	dir := t.TempDir()
	g := makeIn(some, []hierarchy{{unified: true, top: dir, own: dir}}, 0)
	if left, _ := os.ReadDir(dir); len(left) > 0 || len(g.Dirs()) > 0 || len(g.Notes()) != 3 {
		t.Errorf("left %v; %q; %q", left, g.Dirs(), g.Notes())
	}
}

// A real group holds who is put into it, and is removed, by the next run too
// when its maker is gone.
func TestGroup(t *testing.T) {
	g := Make(some, false)
	if len(g.Dirs()) == 0 {
		if os.Getuid() == 0 {
			t.Error("root has no cgroup")
		}
		return // as a user without a session has it; what is done then is tested above
	}
	defer g.Remove()
	sleep := exec.Command("sleep", "60")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	if err := g.Hold(sleep.Process.Pid); err != nil {
		t.Fatal(err)
	}
	in, err := os.ReadFile("/proc/" + strconv.Itoa(sleep.Process.Pid) + "/cgroup")
	if err != nil || strings.Count(string(in), groupName()) < len(g.Dirs()) {
		t.Errorf("%s: %v", in, err)
	}
	Sweep()
	if _, err := os.Stat(g.Dirs()[0]); err != nil {
		t.Error("a group whose maker lives was removed")
	}
	sleep.Process.Kill()
	sleep.Wait()
	if why := g.Reached(); len(why) > 0 {
		t.Errorf("nobody reached a limit: %q", why)
	}
	if err := g.Remove(); err != nil {
		t.Fatal(err)
	}
	gone := strings.Replace(g.Dirs()[0], groupName(), namePrefix+"999999999-5", 1)
	if err := os.Mkdir(gone, 0o755); err != nil {
		t.Fatal(err)
	}
	Sweep()
	if _, err := os.Stat(gone); err == nil {
		os.Remove(gone)
		t.Error("a group whose maker is gone was left")
	}
}

func TestScoped(t *testing.T) {
	got := strings.Join(scoped("/x", "wall"), " ")
	if got != "/usr/bin/systemd-run --user --scope --quiet --collect -p Delegate=yes -- /x wall" {
		t.Error(got)
	}
}
