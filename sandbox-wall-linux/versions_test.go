package linuxwall

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// What the --help of each version has of the options that matter (bubblewrap's
// release notes), and what a plan does without.
func TestBubblewrapVersions(t *testing.T) {
	const before = "--args --bind --ro-bind --tmpfs --seccomp --json-status-fd --block-fd --clearenv"
	for _, v := range []struct {
		version, has string
		lacks        []string // that are done otherwise
		refused      string
	}{
		{"0.4.1", "", nil, "version 0.4.1 lacks --perms: 0.6 or later has them"},
		{"0.6.1", "--perms --chmod --add-seccomp-fd", []string{"--size", "--disable-userns", "--bind-fd"}, ""},
		{"0.7.0", "--perms --chmod --add-seccomp-fd --size", []string{"--disable-userns", "--bind-fd"}, ""},
		{"0.8.0", "--perms --size --disable-userns --assert-userns-disabled", []string{"--bind-fd"}, ""},
		{"0.8.0-2+deb12u1", "--perms --size --disable-userns --bind-fd --ro-bind-fd", nil, ""},
		{"0.9.0", "--perms --size --disable-userns --argv0", []string{"--bind-fd"}, ""},
		{"0.10.0", "--perms --size --disable-userns --argv0 --bind-fd --ro-bind-fd", nil, ""},
		{"0.11.0", "--perms --size --disable-userns --argv0 --bind-fd --ro-bind-fd --overlay", nil, ""},
		{"0.12.0", "--perms --size --disable-userns --argv0 --bind-fd --ro-bind-fd --overlay", nil, ""},
	} {
		m := made(debian)
		m.help, m.version = before+" "+v.has, "bubblewrap "+v.version+"\n"
		p, err := m.plan(working(nil))
		if v.refused != "" {
			if err == nil || !strings.Contains(err.Error(), v.refused) || !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%s: %v", v.version, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", v.version, err)
		}
		p.LimitTmp(1 << 20)
		args := p.BwrapArgs(3)
		for _, option := range []string{"--size", "--disable-userns", "--bind-fd"} {
			if lacks := slices.Contains(v.lacks, option); lacks == slices.Contains(args, option) {
				t.Errorf("%s: %s: lacks it %v, and used %v", v.version, option, lacks, !lacks)
			}
		}
		// What is bound is bound as it was looked at, one way or the other.
		opened, shown := 0, 0
		for _, s := range p.Steps {
			if s.binds() && s.Opened() {
				opened++
			}
			if s.Stable != "" {
				shown++
			}
		}
		if (opened == 0) == (shown == 0) || shown > 0 && len(p.Orders.Binds) != shown {
			t.Errorf("%s: %d by descriptor, %d shown before", v.version, opened, shown)
		}
		if slices.Contains(v.lacks, "--size") {
			if len(p.Orders.Empty) != 4 || p.Orders.Empty[0].Size != 1<<20 {
				t.Errorf("%s: %+v is not bounded", v.version, p.Orders.Empty)
			}
		}
	}
}
