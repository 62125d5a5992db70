package linuxwall

import "testing"

// Of this machine's cgroups the program's own are in view, where there is one
// hierarchy of them.
func TestOwnGroup(t *testing.T) {
	const groups = "/sys/fs/cgroup/user.slice/app.scope/\n"
	for table, want := range map[string]string{
		"0::/user.slice/app.scope": "/sys/fs/cgroup/user.slice/app.scope",
		"0::/":                     "/sys/fs/cgroup",
		"":                         "/sys/fs/cgroup",
		"0::/gone":                 "/sys/fs/cgroup",
		"0::/../user.slice":        "/sys/fs/cgroup",
		"0::/user.slice/":          "/sys/fs/cgroup",
		"1:cpu:/user.slice\n/proc/self/cgroup: 0::/user.slice": "/sys/fs/cgroup",
	} {
		m := made(debian + groups)
		if table != "" {
			m.add("/proc/self/cgroup: " + table + "\n")
		}
		p := m.mustPlan(t, working(nil))
		got := ""
		for _, s := range p.Steps {
			if s.At == "/sys/fs/cgroup" && s.Verb == Read {
				got = s.From
			}
		}
		if got != want {
			t.Errorf("%q: %s, want %s", table, got, want)
		}
	}
}
