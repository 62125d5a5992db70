package limits

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// Where a process is in each tree of cgroups, as systems mount them.
func TestHierarchies(t *testing.T) {
	const pure = "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n"
	const hybrid = "31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
		"32 23 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n" +
		"33 23 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
	const container = "40 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
	for name, c := range map[string]struct {
		cgroup, mounts string
		want           []string
	}{
		"a session of systemd's": {"0::/user.slice/user-1000.slice/user@1000.service/app.slice/run.scope\n", pure,
			[]string{"2 own /sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/run.scope parents 5"}},
		"the top":                 {"0::/\n", pure, []string{"2 own /sys/fs/cgroup parents 1"}},
		"both versions":           {"5:memory:/a/b\n4:cpu,cpuacct:/\n0::/x\n", hybrid, []string{"memory own /sys/fs/cgroup/memory/a/b parents 1", "cpu,cpuacct own /sys/fs/cgroup/cpu,cpuacct parents 1", "2 own /sys/fs/cgroup/unified/x parents 1"}},
		"seen from a container":   {"0::/docker/abc/x\n", container, []string{"2 own /sys/fs/cgroup/x parents 1"}},
		"outside what is mounted": {"0::/docker/abcd\n", container, nil},
		"a name of systemd's, escaped": {"0::/machine.slice/my\\x2dbox.service/x\n", strings.ReplaceAll(container, "/docker/abc", `/machine.slice/my\134x2dbox.service`),
			[]string{"2 own /sys/fs/cgroup/x parents 1"}},
		"above its namespace's root": {"0::/../x\n", container, nil},
		"not mounted":                {"0::/\n", "", nil},
		"nonsense":                   {"x\n::\n", "y - cgroup2\n", nil},
	} {
		var got []string
		for _, h := range hierarchies(c.cgroup, c.mounts) {
			which := strings.Join(h.controllers, ",")
			if h.unified {
				which = "2"
			}
			got = append(got, fmt.Sprintf("%s own %s parents %d", which, h.own, len(h.parents())))
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What is written for limits, in both versions.
func TestWants(t *testing.T) {
	all := client.Limits{Memory: 4 << 30, Processes: 512, CPU: 150, Tmp: 1}
	for unified, want := range map[bool]string{
		true:  "memory.max=4294967296 memory.swap.max=0? pids.max=513 cpu.max=150000 100000",
		false: "memory.limit_in_bytes=4294967296 memory.memsw.limit_in_bytes=4294967296? pids.max=513 cpu.cfs_period_us=100000 cpu.cfs_quota_us=150000",
	} {
		var got []string
		for _, w := range wants(all, unified) {
			for _, f := range w.writes {
				got = append(got, f.file+"="+f.value+map[bool]string{true: "?"}[f.optional])
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%v: %q, want %q", unified, got, want)
		}
	}
	if got := wants(client.Limits{Tmp: 5}, true); got != nil {
		t.Errorf("%+v for tmp, which mounts bound", got)
	}
}

func TestCounted(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "oom 3\noom_kill 2\noom_group_kill 0\n": 2, "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n": 7, "oom_kill x\n": 0,
	} {
		if got := counted(text, "oom_kill"); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{1: "1", 1024: "1K", 1536: "1536", 4 << 30: "4G", 5 << 40: "5T", 3 << 19: "1536K"} {
		if got := Size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
