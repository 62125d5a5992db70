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

// node gives what stands at a path, links not followed. The folders above it
// must be real.
func (t *tree) node(path string) Node {
	n, known := t.facts.Nodes[path]
	if !known {
		if t.sys == nil {
			t.lack("what stands at", path)
			return Node{}
		}
		if !t.listedWithout(path) {
			n = t.sys.Lstat(path)
		}
		t.facts.Nodes[path] = n
	}
	return n
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
	l, known := t.facts.Lists[dir]
	if !known {
		if t.sys == nil {
			t.lack("what is in", dir)
			return nil, false
		}
		l.Names, l.Whole = t.sys.Names(dir, maxNames)
		t.facts.Lists[dir] = l
	}
	return l.Names, l.Whole
}

// text gives the text of a small file, and whether it could be read and is no
// longer than maxText.
func (t *tree) text(path string) (string, bool) {
	x, known := t.facts.Texts[path]
	if !known {
		if t.sys == nil {
			t.lack("the text of", path)
			return "", false
		}
		x.Text, x.Whole = t.sys.Text(path, maxText)
		t.facts.Texts[path] = x
	}
	return x.Text, x.Whole
}

// start gives what a file needs to start.
func (t *tree) start(path string) Start {
	s, known := t.facts.Starts[path]
	if !known {
		if t.sys == nil {
			t.lack("what is needed to start", path)
			return Start{}
		}
		s = t.sys.Start(path)
		t.facts.Starts[path] = s
	}
	return s
}

// programs gives the programs in a folder of libraries, and whether these are
// all.
func (t *tree) programs(dir string) ([]string, bool) {
	l, known := t.facts.Programs[dir]
	if !known {
		if t.sys == nil {
			t.lack("which programs are in", dir)
			return nil, false
		}
		l.Names, l.Whole = t.sys.Programs(dir)
		t.facts.Programs[dir] = l
	}
	return l.Names, l.Whole
}

// makeable says whether something can be made in a folder.
func (t *tree) makeable(dir string) bool {
	can, known := t.facts.Makeable[dir]
	if !known {
		if t.sys == nil {
			t.lack("whether anything can be made in", dir)
			return true
		}
		can = t.sys.Makeable(dir)
		t.facts.Makeable[dir] = can
	}
	return can
}

// readOnly says whether a path lies on what is mounted read only.
func (t *tree) readOnly(path string) bool {
	is, known := t.facts.ReadOnly[path]
	if !known {
		if t.sys == nil {
			t.lack("whether anything can be written at", path)
			return true
		}
		is = t.sys.ReadOnly(path)
		t.facts.ReadOnly[path] = is
	}
	return is
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
	is, known := t.facts.Answers[path]
	if !known {
		if t.sys == nil {
			t.lack("whether anything listens at", path)
			return true
		}
		is = t.sys.Answers(path)
		t.facts.Answers[path] = is
	}
	return is
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
