package linuxwall

import (
	"slices"
	"strings"
	"testing"
)

// Of what is kept, or hidden, every name in what is written is kept, and what
// was not looked through is said. What has one name is not looked for.
func TestOtherNames(t *testing.T) {
	const repository = "/home/u/work/.git/HEAD\n/home/u/work/.git/config\n/home/u/work/.git/objects/\n/home/u/work/.git/refs/\n" +
		"/home/u/work/.git/hooks/pre-commit\n/home/u/work/.envrc\n/home/u/work/.vscode/tasks.json\n/home/u/work/secret\n" +
		"/home/u/work/a/x\n/home/u/work/a/y\n/home/u/work/z\n/home/u/other/x\n"
	for _, c := range []struct {
		name   string
		links  map[string]string // names of what else
		more   uint64            // names elsewhere
		late   bool
		want   []string // steps
		warned bool
	}{
		{"one name each", nil, 0, false, nil, false},
		{"the configuration", map[string]string{"a/x": ".git/config"}, 0, false, []string{"read a/x"}, false},
		{"a hook, twice", map[string]string{"a/x": ".git/hooks/pre-commit", "z": ".git/hooks/pre-commit"}, 0, false, []string{"read a/x", "read z"}, false},
		{"a dot file", map[string]string{"a/y": ".envrc"}, 0, false, []string{"read a/y"}, false},
		{"in an editor's folder", map[string]string{"z": ".vscode/tasks.json"}, 0, false, []string{"read z"}, false},
		{"what is hidden", map[string]string{"a/x": "secret"}, 0, false, []string{"close a/x"}, false},
		{"names elsewhere", nil, 1, false, nil, false},
		{"some elsewhere", map[string]string{"a/x": ".git/config"}, 1, false, []string{"read a/x"}, false},
		{"not looked through", nil, 1, true, nil, true},
		{"found all the same", map[string]string{"a/x": ".git/config"}, 0, true, []string{"read a/x"}, false},
		{"kept both", map[string]string{".vscode/tasks.json": ".envrc"}, 0, true, nil, false},
	} {
		m := made(debian + repository)
		const work = "/home/u/work/"
		count := map[uint64]uint64{}
		for at, n := range m.nodes {
			if to := c.links[strings.TrimPrefix(at, work)]; to != "" {
				n = m.nodes[work+to]
			}
			m.nodes[at] = n
			count[n.Ino]++
		}
		for at, n := range m.nodes {
			if n.Kind == File && strings.HasPrefix(at, work) {
				n.Links = count[n.Ino]
				if slices.Contains([]string{".git/config", ".envrc"}, at[len(work):]) {
					n.Links += c.more
				}
				m.nodes[at] = n
			}
		}
		if c.late {
			m.unseen = []string{work + "b"}
		}
		p := m.mustPlan(t, working(func(c *confinement) { c.Hide = []string{work + "secret"} }))
		var got []string
		for _, s := range p.Steps {
			if strings.Contains(s.Because.Text, "another name of") {
				verb := "read "
				if s.Verb == CloseFile {
					verb = "close "
				} else if s.Verb != Read {
					t.Errorf("%s: %v", c.name, s)
				}
				got = append(got, verb+strings.TrimPrefix(s.At, work))
			}
		}
		warned := slices.ContainsFunc(p.Warnings, func(w string) bool { return strings.Contains(w, "hard links") })
		if !slices.Equal(got, c.want) || warned != c.warned {
			t.Errorf("%s: %q, warned %v, want %q and %v: %q", c.name, got, warned, c.want, c.warned, p.Warnings)
		}
		if len(c.want) > 0 && strings.Contains(c.want[0], " a/") && !slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Verb == Pin && s.At == work+"a" }) {
			t.Errorf("%s: the folder above can be renamed", c.name)
		}
	}
}
