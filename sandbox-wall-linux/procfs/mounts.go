package procfs

import (
	"iter"
	"slices"
	"strconv"
	"strings"
)

// A Mount is one line of mountinfo.
type Mount struct {
	// ID is the mount's number, and Above that of the mount it is in.
	ID, Above string
	// Dev is the file system's device, "major:minor".
	Dev string
	// Root is the folder of that file system which is mounted.
	Root string
	// Point is where, from the root of the process whose table it is.
	Point string
	// Type is the kind of file system: "ext4", "cgroup2".
	Type string
	// Options are those of the file system, not of the mount: "rw,cpu,cpuacct".
	Options string
}

// Mounts gives the mounts of a table (proc_pid_mountinfo(5)), in its order:
// "id above major:minor root point options tags… - type source options", where
// paths have octal escapes.
func Mounts(mountinfo string) iter.Seq[Mount] {
	return func(yield func(Mount) bool) {
		for line := range strings.Lines(mountinfo) {
			f := strings.Fields(line)
			if len(f) < 6 {
				continue
			}
			m := Mount{ID: f[0], Above: f[1], Dev: f[2], Root: unescape(f[3]), Point: unescape(f[4])}
			if i := slices.Index(f[6:], "-"); i >= 0 && len(f) > 6+i+3 {
				m.Type, m.Options = f[6+i+1], f[6+i+3]
			}
			if !yield(m) {
				return
			}
		}
	}
}

// unescape undoes the octal escapes of space, tab, newline and backslash.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
