package linuxwall

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/noexec"
)

// Bwrap is the bubblewrap of this machine.
type Bwrap struct {
	// Path is where it was found: /usr/bin/bwrap, else the first on PATH.
	// Empty when there is none.
	Path string
	// Version is what it says of itself.
	Version string
	// Lacks are options that the wall needs and this one does not have.
	Lacks []string
	// Fault says why it could not be asked, or is empty.
	Fault string
}

// usualBwrap is where distributions put it, and what AppArmor profiles name.
const usualBwrap = "/usr/bin/bwrap"

// neededOptions are those that some bubblewraps lack, with the version that
// brought them: --perms 0.5, --size 0.7, --disable-userns 0.8, --bind-fd 0.10
// (Debian 12 carries it in 0.8.0-2+deb12u1).
var neededOptions = []string{"--perms", "--size", "--disable-userns", "--bind-fd", "--ro-bind-fd"}

// doneOtherwise says whether a plan can do without an option: what is bound is
// shown by package noexec as it was looked at, which bounds file systems too,
// and that no namespace is made inside the filter holds alone.
func doneOtherwise(option string) bool { return option != "--perms" }

// lacks says whether the bubblewrap at hand does not have an option.
func (p *Plan) lacks(option string) bool { return slices.Contains(p.Lacks, option) }

// bindFrom has what is bound shown in the store first, where bubblewrap cannot
// be given descriptors: it would follow what was put in its place meanwhile.
func (d *draft) bindFrom() {
	p := &d.plan
	if !p.lacks("--bind-fd") && !p.lacks("--ro-bind-fd") {
		return
	}
	if p.Orders == nil {
		p.Orders = &noexec.Orders{}
	}
	p.Orders.Store = p.store
	for i, s := range p.Steps {
		p.Steps[i] = p.stable(s)
	}
}

// stable is a step as such a bubblewrap takes it.
func (p *Plan) stable(s Step) Step {
	if s.binds() && (p.lacks("--bind-fd") || p.lacks("--ro-bind-fd")) {
		s.Stable = join(p.store, "b"+strconv.Itoa(len(p.Orders.Binds)))
		p.Orders.Binds = append(p.Orders.Binds, noexec.Place{Path: s.From, Dev: s.Is.Dev, Ino: s.Is.Ino})
	}
	return s
}

// lacking gives the needed options that a --help does not list.
func lacking(help string) []string {
	var lacks []string
	words := strings.Fields(help)
	for _, option := range neededOptions {
		if !slices.Contains(words, option) {
			lacks = append(lacks, option)
		}
	}
	return lacks
}

// findBwrap gives the path of the bubblewrap to use, or "".
func findBwrap(t *tree, path string) string {
	candidates := []string{usualBwrap}
	for dir := range strings.SplitSeq(path, ":") {
		if strings.HasPrefix(dir, "/") {
			candidates = append(candidates, join(strings.TrimRight(dir, "/"), "bwrap"))
		}
	}
	for _, c := range candidates {
		if n := t.resolve(c).node; n.Kind == File && n.Mode&anyExecute != 0 {
			return c
		}
	}
	return ""
}

// knownBwrap is what was found out about one file, kept in ready.json: asking
// costs a start of it, which every start of a sandbox would pay.
type knownBwrap struct {
	Path    string   `json:"path"`
	Dev     uint64   `json:"dev"`
	Ino     uint64   `json:"ino"`
	Size    int64    `json:"size"`
	Changed int64    `json:"changed"`
	Version string   `json:"version"`
	Lacks   []string `json:"lacks"`
}

const readyFile = "sandbox/ready.json"

// askBwrap fills in what a bubblewrap can do, from what was kept of it or by
// asking it. Only answers are kept, not failures to get one. A file that the
// program could have put there, or that gains privileges, is not run; the plan
// refuses it.
func askBwrap(t *tree, b *Bwrap, settings string, mayRun bool) {
	r := t.resolve(b.Path)
	n := r.node
	if b.Path == "" || !mayRun || n.Mode&setUserID != 0 {
		return
	}
	key := knownBwrap{Path: r.real, Dev: n.Dev, Ino: n.Ino, Size: n.Size, Changed: n.Changed}
	kept, members := readReady(t.sys, settings)
	known := kept
	known.Version, known.Lacks = "", nil
	if sameBwrap(known, key) {
		b.Version, b.Lacks = kept.Version, kept.Lacks
		return
	}
	help, version, err := t.sys.BwrapHelp(r.real)
	if err != nil {
		b.Fault = err.Error()
		return
	}
	b.Version = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(version), "bubblewrap"))
	b.Lacks = lacking(help)
	key.Version, key.Lacks = b.Version, b.Lacks
	if settings != "" {
		keepReady(t.sys, settings, members, key)
	}
}

func sameBwrap(a, b knownBwrap) bool {
	return a.Path == b.Path && a.Dev == b.Dev && a.Ino == b.Ino && a.Size == b.Size && a.Changed == b.Changed
}

// readReady gives what is kept, and every member of the file, so that writing
// ours leaves the others'. A file that cannot be read is as one that is not
// there: it holds nothing that cannot be found out again.
func readReady(sys *System, settings string) (knownBwrap, map[string]jsontext.Value) {
	members := map[string]jsontext.Value{}
	var b knownBwrap
	text, whole := sys.Text(join(settings, readyFile), maxText)
	if settings == "" || !whole || json.Unmarshal([]byte(text), &members) != nil {
		return b, map[string]jsontext.Value{}
	}
	if json.Unmarshal(members["bwrap"], &b) != nil {
		return knownBwrap{}, members
	}
	return b, members
}

func keepReady(sys *System, settings string, members map[string]jsontext.Value, b knownBwrap) {
	entry, err := json.Marshal(b)
	if err != nil {
		return
	}
	members["bwrap"] = entry
	text, err := json.Marshal(members)
	if err != nil {
		return
	}
	// A cache that cannot be written only costs time.
	_ = sys.Keep(join(settings, readyFile), string(text)+"\n")
}
