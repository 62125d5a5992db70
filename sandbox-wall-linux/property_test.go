package linuxwall

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// A world is a small machine and a confinement on it, made at random.
type world struct {
	m     *machine
	c     client.Confinement
	paths []string // every path that was made, and some that were not
}

const alphabet = "abc"

func anyPath(t *rapid.T, label string) string {
	top := rapid.SampledFrom([]string{"/s", "/home/u", "/tmp", "/srv/t", "/home"}).Draw(t, label)
	depth := rapid.IntRange(0, 4).Draw(t, label+" depth")
	for range depth {
		name := string(alphabet[rapid.IntRange(0, len(alphabet)-1).Draw(t, label)])
		if rapid.IntRange(0, 6).Draw(t, label+" dot") == 0 {
			name = rapid.SampledFrom(append(client.DotFiles(), ".git")).Draw(t, label)
		}
		top = join(top, name)
	}
	return top
}

func anyWorld(t *rapid.T) world {
	w := world{m: made(debian).in("/")}
	for i := range rapid.IntRange(3, 14).Draw(t, "paths") {
		p := anyPath(t, fmt.Sprint("path ", i))
		w.paths = append(w.paths, p)
		if slices.ContainsFunc(w.paths[:i], func(q string) bool { return within(p, q) && w.m.nodes[q].Kind != Folder }) || w.m.nodes[p].Kind != Missing {
			continue
		}
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0, 1:
			w.m.add(p + "\n")
		case 2:
			w.m.add(p + " =\n")
		case 3:
			w.m.add(p + " -> " + anyPath(t, "target") + "\n")
		default:
			w.m.add(p + "/\n")
		}
	}
	if rapid.Bool().Draw(t, "no settings yet") {
		w.m.remove("/home/u/.lnk")
	}
	w.paths = append(w.paths, "/home/u", "/home/u/.lnk", "/home/u/work", "/etc/hosts", "/usr/bin/git", "/")
	some := func(label string, most int) []string {
		var list []string
		for range rapid.IntRange(0, most).Draw(t, label) {
			if p := rapid.SampledFrom(w.paths[:len(w.paths)-1]).Draw(t, label); !slices.Contains(list, p) && base(p) != ".git" && base(w.real(p)) != ".git" {
				list = append(list, p)
			}
		}
		return list
	}
	w.c = working(func(c *confinement) {
		c.Write, c.Read, c.Hide = some("write", 3), some("read", 3), some("hide", 4)
		c.ReadHome = rapid.Bool().Draw(t, "read home")
		for _, dir := range c.Write {
			switch rapid.IntRange(0, 5).Draw(t, "dots") {
			case 0:
				c.WriteDotFiles = append(c.WriteDotFiles, dir)
			case 1:
				c.WriteDotFiles = append(c.WriteDotFiles, join(dir, ".envrc"))
			}
		}
	})
	for _, p := range slices.Concat(w.c.Write, w.c.Read, w.c.Hide) {
		for _, dot := range client.DotFiles() {
			w.paths = append(w.paths, join(p, dot))
		}
	}
	return w
}

// real is where a path leads, told anew, so that the product's own way is
// checked by it.
func (w world) real(path string) string {
	return w.follow(path, 0)
}

func (w world) follow(path string, depth int) string {
	at := "/"
	names := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	for i, name := range names {
		at = join(at, name)
		if n := w.m.nodes[at]; n.Kind == Link && depth < 50 {
			return w.follow(join(n.Target, strings.Join(names[i+1:], "/")), depth+1)
		}
	}
	return at
}

// A rule is one thing that is said about a path and all below it.
type rule struct {
	at     string
	access Access
	rank   int // of rules for one path, the highest counts
}

// deepest gives what the deepest rule that holds a path says.
func deepest(rules []rule, path string) Access {
	best := rule{"", Absent, -1}
	for _, r := range rules {
		if within(path, r.at) && (len(r.at) > len(best.at) || len(r.at) == len(best.at) && r.rank > best.rank) {
			best = r
		}
	}
	return best.access
}

// want says what the contract gives of a path with no link in it.
func (w world) want(path string) Access {
	var rules []rule
	all := func(access Access, rank int, paths ...string) {
		for _, p := range paths {
			rules = append(rules, rule{w.real(p), access, rank})
		}
	}
	all(Private, 0, "/tmp", "/run", "/proc", "/dev", "/var/tmp", "/")
	open := map[string]bool{}
	for _, p := range w.c.WriteDotFiles {
		for _, dot := range client.DotFiles() {
			if at := join(w.real(p), dot); slices.Contains(w.c.Write, p) {
				open[at] = true
			}
		}
		open[join(w.real(parent(p)), base(p))] = true
	}
	for _, p := range w.c.Write {
		for _, dot := range client.DotFiles() {
			if at := join(w.real(p), dot); !open[at] {
				all(ReadOnly, 3, at)
			}
		}
	}
	all(Closed, 4, w.c.Hide...)
	all(ReadOnly, 5, w.c.Read...)
	all(ReadWrite, 6, w.c.Write...)
	for _, at := range w.nested(rules) {
		all(ReadOnly, 3, at)
	}

	// What is not named only opens: where something is named it says nothing.
	implied := []string{"/usr", "/etc", "/opt", "/sys/fs/cgroup", "/sys/devices/system/cpu"}
	if w.c.ReadHome {
		implied = append(implied, "/home/u")
	}
	for _, p := range implied {
		if deepest(rules, w.real(p)) == Private {
			all(ReadOnly, 1, p)
		}
	}
	if within(path, "/home/u/.lnk") || w.m.nodes[path].Kind == Socket {
		return Closed
	}
	return deepest(rules, path)
}

// nested gives the repositories, and the dot files beside them, that stand
// deeper than the top of a write folder and in nothing that is closed or read
// only: they are as those at the top.
func (w world) nested(rules []rule) []string {
	var found []string
	for at := range w.m.nodes {
		dir := parent(at)
		if !slices.Contains(client.DotFiles(), base(at)) || w.m.nodes[join(dir, ".git")].Kind == Missing || w.m.nodes[at].Kind == Link {
			continue
		}
		if deepest(rules, at) != ReadWrite || slices.ContainsFunc(strings.Split(dir, "/"), func(name string) bool { return name == ".git" }) {
			continue
		}
		root := ""
		for _, p := range w.c.Write {
			if real := w.real(p); w.m.nodes[real].Kind == Folder && within(at, real) && len(real) > len(root) {
				root = real
			}
		}
		whole := slices.ContainsFunc(w.c.WriteDotFiles, func(p string) bool { return w.real(p) == root && slices.Contains(w.c.Write, p) })
		if root != "" && dir != root && !whole {
			found = append(found, at)
		}
	}
	return found
}

// isHosts says whether this machine's file is reached.
func isHosts(a Access) bool { return a == ReadOnly || a == ReadWrite }

// TestPlanGivesWhatIsNamed holds that inside each path is what the contract
// says, and that nothing else of this machine is.
func TestPlanGivesWhatIsNamed(t *testing.T) {
	planned := 0
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		p, err := w.m.plan(w.c)
		if err != nil {
			w.checkRefusal(t, err)
			return
		}
		planned++
		for path, n := range w.m.nodes {
			w.checkPath(t, p, path, n.Kind != Link)
		}
		for _, path := range slices.Concat(w.paths, w.c.Hide) {
			w.checkPath(t, p, path, false)
		}
		w.checkAbsentHides(t, p)
		w.checkSteps(t, p)
		w.checkPins(t, p)
		again, err := w.m.plan(w.c)
		if diff := cmp.Diff(p.Explain(), again.Explain()); err != nil || diff != "" {
			t.Fatalf("planned again it is another plan: %v\n%s", err, diff)
		}
	})
	if planned < 20 {
		t.Errorf("only %d worlds had a plan: the test sees too little", planned)
	}
}

// checkRefusal holds that what is refused is one of what should be.
func (w world) checkRefusal(t *rapid.T, err error) {
	for _, why := range []string{
		"no such file or folder", "passes the link", "is a socket", "is a link", "a sandbox has", "links lead in a circle",
		"is everything", "is the whole machine", "cannot be protected", "/write_dot_files/", "is a file, not a folder",
		"neither a repository's folder", "cannot be looked at",
	} {
		if strings.Contains(err.Error(), why) {
			return
		}
	}
	t.Fatalf("refused for another reason: %v", err)
}

// checkPath compares where a path leads with what the contract says of that.
func (w world) checkPath(t *rapid.T, p Plan, path string, exact bool) {
	place, err := p.Lookup(w.m.system(), path)
	if err != nil {
		return // links in a circle lead nowhere
	}
	if isHosts(place.Access) && place.Path != ProgramInside {
		if want := w.want(place.Path); place.Access != want {
			t.Fatalf("%s leads to %s, which is %s (%s), want %s\n%s", path, place.Path, place.Access, place.Because, want, p.Explain())
		}
		if place.Host != place.Path {
			t.Fatalf("%s is another path of this machine, %s", place.Path, place.Host)
		}
	}
	if exact && w.real(path) == path {
		want := w.want(path)
		if isHosts(want) != isHosts(place.Access) && !slices.Contains([]string{"/etc/hosts", "/etc/resolv.conf", "/usr/bin/lnk-sandbox"}, path) {
			t.Fatalf("%s is %s (%s), want %s\n%s", path, place.Access, place.Because, want, p.Explain())
		}
	}
}

// checkAbsentHides holds that what is hidden and not there cannot be made.
func (w world) checkAbsentHides(t *rapid.T, p Plan) {
	for _, h := range w.c.Hide {
		at := w.real(h)
		if w.m.nodes[at].Kind != Missing || slices.ContainsFunc(slices.Concat(w.c.Write, w.c.Read), func(o string) bool { return within(w.real(o), at) }) {
			continue
		}
		for dir := at; ; dir = parent(dir) {
			place, err := p.Lookup(w.m.system(), dir)
			if err != nil || place.Access == Closed || place.Access == ReadOnly {
				break
			}
			if n := w.m.nodes[dir]; n.Kind != Missing && n.Kind != Folder && slices.ContainsFunc(p.Steps, func(s Step) bool { return s.At == dir }) {
				break // a file that stays one
			}
			if place.Access == ReadWrite || dir == "/" && place.Access != Private {
				t.Fatalf("the hidden %s can be made in %s\n%s", at, dir, p.Explain())
			}
			if dir == "/" {
				break
			}
		}
	}
}

// checkSteps holds that each step can be carried out when its turn comes, and
// opens nothing that was not named.
func (w world) checkSteps(t *rapid.T, p Plan) {
	named := []string{"/usr", "/etc", "/opt", "/sys/fs/cgroup", "/sys/devices/system/cpu", "/usr/bin/lnk-sandbox"}
	for _, n := range slices.Concat(w.c.Write, w.c.Read) {
		named = append(named, w.real(n))
	}
	if w.c.ReadHome {
		named = append(named, "/home/u")
	}
	held := map[string]bool{}
	for _, h := range p.Placeholders {
		held[h.Path] = true
		if w.m.nodes[h.Path].Kind != Missing || w.m.nodes[parent(h.Path)].Kind != Folder {
			t.Fatalf("the placeholder %s stands where something is, or in nothing", h.Path)
		}
	}
	sealing := false
	for i, s := range p.Steps {
		if s.Verb == Seal {
			sealing = true
			continue
		}
		if sealing {
			t.Fatalf("%s %s comes after a seal", s.Verb, s.At)
		}
		if s.binds() && !slices.ContainsFunc(named, func(n string) bool { return within(s.From, n) }) {
			t.Fatalf("%s %s opens what nothing names\n%s", s.Verb, s.From, p.Explain())
		}
		for _, later := range p.Steps[i+1:] {
			if later.Verb != Seal && later.Verb != Tell && below(s.At, later.At) {
				t.Fatalf("%s is covered later by %s", s.At, later.At)
			}
		}
		g := viewOf(p.Steps[:i]).deciding(s.At)
		if g.binds() && w.m.nodes[s.At].Kind == Missing && !held[s.At] && !slices.ContainsFunc(p.Make, func(m string) bool { return within(m, s.At) }) {
			t.Fatalf("%s %s has nothing to stand on\n%s", s.Verb, s.At, p.Explain())
		}
	}
	if last := p.Steps[len(p.Steps)-1]; last.Verb != Seal || last.At != "/" {
		t.Fatalf("the root is not sealed last: %s %s", last.Verb, last.At)
	}
}

// checkPins holds that no folder that the program can rename has a mount
// below it: whatever is covered stays where it is covered.
func (w world) checkPins(t *rapid.T, p Plan) {
	mounts := map[string]bool{}
	for _, s := range p.Steps {
		if s.Verb != MakeLink && s.Verb != MakeFolder {
			mounts[s.At] = true
		}
	}
	for mount := range mounts {
		for dir := parent(mount); dir != "/"; dir = parent(dir) {
			if mounts[dir] {
				continue
			}
			if place, err := p.Lookup(w.m.system(), dir); err == nil && place.Access == ReadWrite {
				t.Fatalf("%s can be renamed, with %s below it\n%s", dir, mount, p.Explain())
			}
		}
	}
}
