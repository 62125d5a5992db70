package linuxwall

import (
	"errors"
	"strings"
	"testing"
)

// changed says when what stands at a path changed last, and whose it is.
func (m *machine) changed(path string, seconds int64, uid uint32) *machine {
	n := m.nodes[path]
	n.Changed, n.UID = seconds*1e9, uid
	m.nodes[path] = n
	return m
}

// What an earlier sandbox can have left where it wrote opens nothing to one
// that does not write there.
func TestEarlierRuns(t *testing.T) {
	const record = `/home/u/.lnk/sandbox/written.json: {"path":"/home/u/old","since":1000000000000}` + "\n"
	const tree = record + `
/home/u/.ssh/id
/home/u/old/deep/l -> /home/u/.ssh
/home/u/old/r -> ../.ssh
/home/u/older/l -> /home/u/.ssh
/home/u/old/real/f
`
	base := func() *machine { return made(debian+tree).changed("/home/u/old/deep/l", 1001, 1000) }
	reads := func(path string) func(*confinement) { return func(c *confinement) { c.Read = []string{path} } }
	for _, c := range []struct {
		name   string
		on     *machine
		change func(*confinement)
		why    string
	}{
		{"a link it left", base(), reads("/home/u/old/deep/l/id"), "passes the link /home/u/old/deep/l, which an earlier sandbox could have put there since it wrote /home/u/old: name where it leads, /home/u/.ssh/id"},
		{"hidden by it", base(), func(c *confinement) { c.Hide = []string{"/home/u/old/deep/l"} }, "an earlier sandbox"},
		{"written by it", base(), func(c *confinement) { c.Write = append(c.Write, "/home/u/old/deep/l") }, "an earlier sandbox"},
		{"one that was there before", base().changed("/home/u/old/deep/l", 900, 1000), reads("/home/u/old/deep/l/id"), ""},
		{"a relative one, whenever", base().changed("/home/u/old/r", 900, 1000), reads("/home/u/old/r/id"), "an earlier sandbox"},
		{"root's", base().changed("/home/u/old/deep/l", 1001, 0), reads("/home/u/old/deep/l/id"), ""},
		{"root's, for root", base().changed("/home/u/old/deep/l", 1001, 0).as(0, "/home/u"), reads("/home/u/old/deep/l/id"), "an earlier sandbox"},
		{"elsewhere", base(), reads("/home/u/older/l/id"), ""},
		{"no link", base(), reads("/home/u/old/real/f"), ""},
		{"where it leads", base(), reads("/home/u/.ssh/id"), ""},
		{"the settings", made(debian+record+"/home/u/old/s -> /home/u/.lnk\n").changed("/home/u/old/s", 1001, 1000).env("LNK_HOME=/home/u/old/s"), nil, "is reached by the link /home/u/old/s, which an earlier sandbox"},
		{"bubblewrap", made(debian+record+"/home/u/old/bin/bwrap\n").remove("/usr/bin/bwrap").changed("/home/u/old/bin/bwrap", 1001, 1000).env("PATH=/home/u/old/bin:/usr/bin"), nil, "lies in /home/u/old"},
		{"a record that cannot be read", made(debian + "/home/u/.lnk/sandbox/written.json: torn\n"), nil, "/home/u/.lnk/sandbox/written.json"},
		{"a record that is no file", made(debian + "/home/u/.lnk/sandbox/written.json/\n"), nil, "cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.on.plan(working(c.change))
			if (err == nil) != (c.why == "") || err != nil && (!errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), c.why)) {
				t.Errorf("%v, want %q", err, c.why)
			}
			if c.name == "bubblewrap" && c.on.asked > 0 {
				t.Error("it was run")
			}
		})
	}
	// A toolchain is not opened by a link of theirs.
	m := made(debian+record+"/home/u/old/x -> /srv/secret\n/srv/secret/f\n/home/u/.cargo -> old/x\n").changed("/home/u/old/x", 1001, 1000)
	p := m.mustPlan(t, working(func(c *confinement) { c.DeveloperTools = true }))
	if got := verbAt(p, "/srv/secret"); got != 0 {
		t.Errorf("a toolchain: %s", verbName(got))
	}
}
