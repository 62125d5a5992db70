package procfs

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMounts(t *testing.T) {
	const table = `26 1 254:0 / / rw,relatime - ext4 /dev/vda rw
27 26 0:24 /a\040b /mnt/x\134y\011z rw shared:1 master:2 - tmpfs none ro
malformed
28 26 0:25 /dev /half\04 rw - tmpfs
29 26 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct
30 26 0:27 / - rw
`
	want := []Mount{
		{"26", "1", "254:0", "/", "/", "ext4", "rw"},
		{"27", "26", "0:24", "/a b", "/mnt/x\\y\tz", "tmpfs", "ro"},
		{"28", "26", "0:25", "/dev", `/half\04`, "", ""},
		{"29", "26", "0:26", "/", "/sys/fs/cgroup/cpu", "cgroup", "rw,cpu,cpuacct"},
		{"30", "26", "0:27", "/", "-", "", ""},
	}
	if diff := cmp.Diff(want, slices.Collect(Mounts(table))); diff != "" {
		t.Errorf("other mounts (-want +got):\n%s", diff)
	}
	for m := range Mounts(table) {
		if m.ID != "26" {
			t.Errorf("%s after the end", m.ID)
		}
		break
	}
}

func TestStat(t *testing.T) {
	for stat, want := range map[string][]string{
		"7 (a b) c) S 1 7 7":   {"S", "1", "7", "7"},
		"7 (\nname\n) Z 0 0\n": {"Z", "0", "0"},
		"7 (cut":               nil,
		"7 (cut)":              {},
		"":                     nil,
	} {
		if got := Stat(stat); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", stat, got, want)
		}
	}
}
