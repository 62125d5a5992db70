package linuxwall

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/survey"
)

// A tree is this machine's file system as facts: what stands in them is given,
// and what does not is looked up where a system is at hand, and written down.
// Without one it is an error, of ours: so the same code that draws a plan
// finds out which facts it needs.
type tree struct {
	facts *Facts
	sys   *System // nil when only the facts count
	// lacks is the first fact that was asked for and not there.
	lacks error
	// plain are folders whose path passes no link.
	plain map[string]bool
}

func (t *tree) lack(what, path string) {
	if t.lacks == nil {
		t.lacks = fmt.Errorf("linuxwall: the facts do not say %s %s: this is a fault of ours, please report it", what, shown(path))
	}
}

// look gives a fact about a path: what is written down, else what the system
// says, which is then written down. One that is lacking is said to be none.
func look[T any](t *tree, facts map[string]T, path, what string, none T, ask func(*System) T) T {
	fact, known := facts[path]
	if known {
		return fact
	}
	if t.sys == nil {
		t.lack(what, path)
		return none
	}
	fact = ask(t.sys)
	facts[path] = fact
	return fact
}

// node gives what stands at a path, links not followed. The folders above it
// must be real.
func (t *tree) node(path string) Node {
	return look(t, t.facts.Nodes, path, "what stands at", Node{}, func(sys *System) Node {
		if t.listedWithout(path) {
			return Node{}
		}
		return sys.Lstat(path)
	})
}

// fewNames is up to how many names of a folder are gone through for one.
const fewNames = 256

// listedWithout says whether a path's folder was listed and has nothing of that
// name: a list costs as much as two looks. There are file systems on which names
// differ by case alone, or by how a letter is composed, and are one: where a name
// might be another so, it is not said.
func (t *tree) listedWithout(path string) bool {
	l, known := t.facts.Lists[parent(path)]
	if !known || !l.Whole || len(l.Names) > fewNames {
		return false
	}
	name := base(path)
	return !slices.ContainsFunc(l.Names, func(n string) bool { return strings.EqualFold(n, name) || !ascii(n) }) && ascii(name)
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}

// names lists a folder, sorted; a folder with more than maxNames gives them
// and false, as does one that cannot be listed.
func (t *tree) names(dir string) ([]string, bool) {
	l := look(t, t.facts.Lists, dir, "what is in", List{}, func(sys *System) (l List) {
		l.Names, l.Whole = sys.Names(dir, maxNames)
		return l
	})
	return l.Names, l.Whole
}

// text gives the text of a small file, and whether it could be read and is no
// longer than maxText.
func (t *tree) text(path string) (string, bool) {
	x := look(t, t.facts.Texts, path, "the text of", Text{}, func(sys *System) (x Text) {
		x.Text, x.Whole = sys.Text(path, maxText)
		return x
	})
	return x.Text, x.Whole
}

// start gives what a file needs to start.
func (t *tree) start(path string) Start {
	return look(t, t.facts.Starts, path, "what is needed to start", Start{}, func(sys *System) Start { return sys.Start(path) })
}

// programs gives the programs in a folder of libraries, and whether these are
// all.
func (t *tree) programs(dir string) ([]string, bool) {
	l := look(t, t.facts.Programs, dir, "which programs are in", List{}, func(sys *System) (l List) {
		l.Names, l.Whole = sys.Programs(dir)
		return l
	})
	return l.Names, l.Whole
}

// makeable says whether something can be made in a folder.
func (t *tree) makeable(dir string) bool {
	return look(t, t.facts.Makeable, dir, "whether anything can be made in", true, func(sys *System) bool { return sys.Makeable(dir) })
}

// readOnly says whether a path lies on what is mounted read only.
func (t *tree) readOnly(path string) bool {
	return look(t, t.facts.ReadOnly, path, "whether anything can be written at", true, func(sys *System) bool { return sys.ReadOnly(path) })
}

// below gives what lies below write folders.
func (t *tree) below(roots, except []string) survey.Found {
	if t.facts.Below == nil {
		if t.sys == nil {
			t.lack("what lies below", roots[0])
			return survey.Found{}
		}
		found := t.sys.Walk(roots, except)
		t.facts.Below = &found
	}
	return *t.facts.Below
}

// answers says whether something listens on a socket.
func (t *tree) answers(path string) bool {
	return look(t, t.facts.Answers, path, "whether anything listens at", true, func(sys *System) bool { return sys.Answers(path) })
}

// A resolution is where a path leads on this machine.
type resolution struct {
	// real is the path with every link followed. Where something is missing
	// on the way, what stands behind it is kept as it was written.
	real string
	node Node
	// links are those passed, by where they really stand.
	links []string
	// left are the folders that were passed and left again by "..": what stands
	// there decides where the rest leads.
	left []string
	// missing is the first path on the way that is not there, or empty.
	missing string
}

// maxLinks is how many links the kernel follows in one path
// (path_resolution(7)).
const maxLinks = 40

// resolve follows a path as the kernel does, a link at its end included.
func (t *tree) resolve(path string) resolution {
	r, rest := t.begin(path)
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		switch name {
		case "", ".":
			continue
		case "..":
			if r.real != "/" && !slices.Contains(r.left, r.real) {
				r.left = append(r.left, r.real)
			}
			r.real = parent(r.real)
			if r.missing == "" && r.node.Kind != Unseen {
				r.node = t.node(r.real)
			}
			continue
		}
		r.real = join(r.real, name)
		if r.missing == "" && r.node.Kind != Folder && r.node.Kind != Unseen {
			r.missing, r.node = r.real, Node{} // ENOTDIR
		}
		if r.missing != "" || r.node.Kind == Unseen {
			continue
		}
		r.node = t.node(r.real)
		switch r.node.Kind {
		case Missing:
			r.missing = r.real
		case Link:
			r.links = append(r.links, r.real)
			if len(r.links) > maxLinks {
				r.node = Node{Kind: Tangled}
				return r
			}
			rest = r.node.Target + "/" + rest
			if strings.HasPrefix(r.node.Target, "/") {
				r.real = "/"
			} else {
				r.real = parent(r.real)
			}
			r.node = t.node(r.real)
		case Folder:
			if r.links == nil && r.left == nil {
				t.plain[r.real] = true
			}
		}
	}
	return r
}

// begin gives where a path's last name is looked for, and that name, where it
// is known already that what stands before it passes no link; else the root, and
// all of the path.
func (t *tree) begin(path string) (r resolution, rest string) {
	if t.plain == nil {
		t.plain = map[string]bool{}
	}
	if at := strings.LastIndexByte(path, '/'); at > 0 && t.plain[path[:at]] {
		return resolution{real: path[:at], node: t.node(path[:at])}, path[at+1:]
	}
	return resolution{real: "/", node: t.node("/")}, path
}
