//go:build linux

package inside

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// changes are what a program would try against its network.
var changes = []string{"noroute", "address", "down", "dummy", "table", "list"}

func probeChanges(path string) []string {
	argv := []string{path, "probe"}
	for _, c := range changes {
		argv = append(argv, "change:"+c)
	}
	return argv
}

// refusedAll holds that every try was refused, and that the way out is as it was.
func refusedAll(t *testing.T, how string, argv ...string) {
	t.Helper()
	_, got := run(t, "stage", Want{}, append(argv, "tcp:192.0.2.7:443", "udp:8.8.8.8:443")...)
	if len(got) != len(changes)+2 {
		t.Fatalf("%s: %q", how, got)
	}
	for i, c := range changes {
		if got[i] != "EPERM" {
			t.Errorf("%s: change %s: %s", how, c, got[i])
		}
	}
	if got := strings.Join(got[len(changes):], " "); got != "192.0.2.7:443 EPERM" {
		t.Errorf("%s: afterwards the program gets %s", how, got)
	}
}

// The probes see an open door: where the capabilities are there, each change
// is made.
func TestChangesAreMadeWithoutTheSeal(t *testing.T) {
	cmd := exec.Command(self, append([]string{"tamper", "open"}, probeChanges(self)...)...)
	cmd.SysProcAttr = inNewNamespaces()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := strings.Split(strings.TrimSpace(string(out)), "\n")
	for i, c := range changes {
		wish := "ok"
		if c == "list" {
			wish = ErrMismatch.Error() // the table is gone by then, so it is no refusal
		}
		if i >= len(got) || !strings.Contains(got[i], wish) {
			t.Errorf("change %s: %q", c, got)
		}
	}
}

// ownPath is the test's own by a path that holds in other processes too.
func ownPath(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "inside.test")
	if err := os.WriteFile(path, b, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// inNewNamespaces is root of its own user and network namespace.
func inNewNamespaces() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
}

func TestTheProgramCannotChangeItsNetwork(t *testing.T) {
	refusedAll(t, "directly", probeChanges(self)...)
}

// A user namespace made below has every capability, over what belongs to it;
// the network does not.
func TestNorFromAUserNamespaceOfItsOwn(t *testing.T) {
	refusedAll(t, "unshare -Ur", append([]string{"/usr/bin/unshare", "-Ur"}, probeChanges(ownPath(t))...)...)
	refusedAll(t, "unshare -U twice", append([]string{"/usr/bin/unshare", "-Ur", "/usr/bin/unshare", "-Ur"}, probeChanges(ownPath(t))...)...)
}

// bwrap is bubblewrap as the wall starts it, with no network namespace of its
// own. /proc/sys is read only by name: bubblewrap 0.8 leaves it writable to
// uid 0, which owns the settings whatever capabilities it has.
func bwrap(more ...string) []string {
	return append([]string{"/usr/bin/bwrap", "--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc",
		"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"}, more...)
}

func TestNorBehindTheWall(t *testing.T) {
	refusedAll(t, "bwrap", append(bwrap("--cap-drop", "ALL", "--disable-userns", "--"), probeChanges(ownPath(t))...)...)
	// Even a wall that forgot to drop them.
	refusedAll(t, "bwrap with capabilities", append(bwrap("--cap-add", "ALL", "--"), probeChanges(ownPath(t))...)...)
}

// The tools that a person would use say the same.
func TestNorWithTheUsualTools(t *testing.T) {
	for _, line := range []string{
		"nft flush ruleset", "nft delete table inet lnk", "nft insert rule inet lnk refuse accept", "nft list ruleset",
		"ip link set lo down", "ip route flush table main", "ip -6 route flush table all", "ip addr add 10.1.1.1/32 dev lo",
		"ip rule add pref 1 table local", "ip link add type veth", "ip netns add x",
	} {
		for _, before := range []string{"", "unshare -Ur "} {
			b := openBox(t, "stage", Want{}, "/bin/sh", "-c", "PATH=/usr/sbin:/usr/bin:/sbin:/bin; "+before+line+" >/dev/null 2>&1; echo $?")
			if got := b.wait(t); got[0] == "0" || got[0] == "127" {
				t.Errorf("%s%s ended with %s", before, line, got[0])
			}
		}
	}
}

// sets reads what capabilities printed.
func sets(t *testing.T, line string) map[string]uint64 {
	t.Helper()
	set := map[string]uint64{}
	for _, f := range strings.Fields(line) {
		name, value, _ := strings.Cut(f, "=")
		n, err := strconv.ParseUint(value, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		set[name] = n
	}
	if len(set) != 6 {
		t.Fatalf("there are %d sets in %q", len(set), line)
	}
	return set
}

const network = 1<<unix.CAP_NET_ADMIN | 1<<unix.CAP_NET_RAW

func TestCapabilitiesOfTheProgram(t *testing.T) {
	for _, role := range []string{"stage", "thread"} {
		_, got := run(t, role, Want{}, self, "probe", "status")
		set := sets(t, got[0])
		if set["NoNewPrivs"] != 1 || set["CapInh"] != 0 || set["CapAmb"] != 0 {
			t.Errorf("%s: the program has %s", role, got[0])
		}
		if os.Getuid() != 0 {
			if set["CapPrm"] != 0 || set["CapEff"] != 0 {
				t.Errorf("%s: the program has %s", role, got[0])
			}
			continue
		}
		if (set["CapPrm"]|set["CapEff"]|set["CapBnd"])&network != 0 {
			t.Errorf("%s: root has %s", role, got[0])
		}
		if set["CapEff"]&(1<<unix.CAP_SETFCAP) == 0 {
			t.Errorf("%s: root lost what bubblewrap needs: %s", role, got[0])
		}
	}
}

// It does not matter which of an ordinary user's threads executes the wall,
// where the runtime can reach them all.
func TestCapabilitiesOfEveryThread(t *testing.T) {
	_, got := run(t, "threads", Want{})
	if !withCgo && len(got) < 6 {
		t.Fatalf("there are %d threads", len(got))
	}
	for _, line := range got {
		set := sets(t, line)
		if os.Getuid() != 0 && set["CapPrm"]|set["CapEff"]|set["CapAmb"] != 0 {
			t.Errorf("a thread has %s", line)
		}
	}
}

// The wall takes what Enter left to root.
func TestCapabilitiesBehindTheWall(t *testing.T) {
	_, got := run(t, "stage", Want{}, append(bwrap("--cap-drop", "ALL", "--"), ownPath(t), "probe", "status", "change:port", "change:join")...)
	zero := fmt.Sprintf("%016x", 0)
	if want := fmt.Sprintf("CapInh=%s CapPrm=%s CapEff=%s CapBnd=%s CapAmb=%s NoNewPrivs=1", zero, zero, zero, zero, zero); got[0] != want {
		t.Errorf("the program has %s", got[0])
	}
	if got[1] == "ok" || got[2] != "EPERM" {
		t.Errorf("the program could change a setting or make a network: %q", got[1:])
	}
}

// What the stage is told stays with it.
func TestTheProgramsEnvironmentIsAsItWas(t *testing.T) {
	plain, err := exec.Command("/usr/bin/env").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, got := run(t, "stage", Want{ProxyPort: 3128}, "/usr/bin/env")
	if want := strings.Split(strings.TrimSpace(string(plain)), "\n"); !slices.Equal(got, want) {
		t.Errorf("the program sees %q and not %q", got, want)
	}
}
