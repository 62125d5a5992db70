package linuxwall

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/gitread"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/survey"
)

// Limits of what a kept repository's own files lead to. Each name costs a mount
// and more, and whoever made the repository wrote them.
const (
	maxLed      = 64       // names of one repository
	maxLedInAll = 256      // of all
	maxIncludes = 32       // files of configuration for one repository
	maxDepth    = 10       // includes in includes, as git (MAX_INCLUDE_DEPTH)
	maxGitlinks = 1024     // submodules in an index, of which most are checked out
	maxIndex    = 64 << 20 // bytes of an index
)

// led keeps what a kept repository leads git to outside itself: the files of
// write folders that its configuration names, and the folders of submodules,
// in which git starts git. It runs when all else is placed.
func (d *draft) led() error {
	repositories := append(d.repositoriesAbove(), d.plan.Below.Found.Repositories...)
	slices.SortStableFunc(repositories, func(a, b survey.Repository) int { // those at the top come first
		return strings.Count(a.Path, "/") - strings.Count(b.Path, "/")
	})
	l := leads{draft: d, by: "git"}
	for _, r := range repositories {
		if root := d.rootOf(r.Path); !slices.Contains(d.opened(root), root) {
			l.repository(r)
		}
	}
	l.byEditors()
	return nil
}

// repositoriesAbove gives those that write folders lie in the work tree of.
func (d *draft) repositoriesAbove() (found []survey.Repository) {
	for _, root := range d.plan.Below.Roots {
		if slices.Contains(d.opened(root), root) {
			continue
		}
		for dir := parent(root); dir != "/"; dir = parent(dir) {
			r := survey.Repository{Path: join(dir, ".git")}
			if d.rootOf(r.Path) == "" && d.t.node(r.Path).Kind != Missing && !slices.Contains(found, r) {
				found = append(found, r)
			}
		}
	}
	return found
}

// leads is what one repository leads to, one after another.
type leads struct {
	*draft
	by        string // who is led: git, or an editor
	of        string // its path
	tree, own string // its work tree, and its own folder
	all, n    int
	includes  int
	sha256    bool
	full      bool // said that there is too much
}

// warn says each thing once, as what the person's own configuration leads to.
func (l *leads) warn(format string, args ...any) {
	if w := fmt.Sprintf(format, args...); !slices.Contains(l.plan.Warnings, w) {
		l.plan.Warnings = append(l.plan.Warnings, w)
	}
}

func (l *leads) repository(r survey.Repository) {
	l.of, l.tree, l.own = r.Path, parent(r.Path), r.Path
	l.n, l.includes, l.sha256, l.full = 0, 0, false, false
	kind := l.standing(r.Path, "").Kind
	if kind == Link {
		to := l.t.resolve(r.Path)
		l.own, kind = to.real, to.node.Kind
	}
	common := l.own
	switch {
	case r.Bare:
		l.tree = r.Path
	case kind == File:
		text, whole := l.t.text(l.own)
		dir, ok := strings.CutPrefix(strings.TrimRight(text, "\r\n"), "gitdir: ")
		if !whole || !ok {
			return
		}
		if l.own, ok = l.folder(l.tree, dir); !ok {
			return
		}
		common = l.own
		if up, _ := l.t.text(join(l.own, "commondir")); up != "" {
			if common, ok = l.folder(l.own, strings.TrimRight(up, "\r\n")); !ok {
				return
			}
		}
	case kind != Folder:
		return
	}
	for _, dir := range []string{common, l.own, l.tree} {
		l.t.names(dir) // a dozen names are looked for in each
	}
	l.byLinks(common)
	if common != l.own {
		l.byLinks(l.own)
	}
	l.config(join(common, "config"), 0)
	l.config(join(common, "config.worktree"), 0)
	if common != l.own {
		l.config(join(l.own, "config.worktree"), 0)
	}
	for _, at := range []string{"/etc/gitconfig", join(l.f.Home, ".gitconfig"), join(l.f.Home, ".config/git/config")} {
		if strings.HasPrefix(at, "/") {
			l.config(at, 0)
		}
	}
	if !r.Bare {
		l.submodules()
	}
}

// folder gives the folder that a repository's file leads to, and keeps it
// where the program could change it, unless it is opened as a repository.
func (l *leads) folder(dir, path string) (string, bool) {
	if path == "" || strings.ContainsAny(path, "\x00\n") {
		return "", false
	}
	if !strings.HasPrefix(path, "/") {
		path = join(dir, path)
	}
	real := l.t.resolve(path).real
	if g := l.above(real); !g.kind.writable() || g.rank == rankDot || base(g.at) == ".git" {
		return real, l.t.resolve(path).node.Kind == Folder
	}
	l.keep(path, gitread.Folder, "its repository")
	r := l.t.resolve(path)
	return r.real, r.node.Kind == Folder
}

// config reads a file of configuration and keeps what it names.
func (l *leads) config(path string, depth int) {
	r := l.t.resolve(path)
	if r.node.Kind != File {
		return
	}
	text, whole := l.t.text(r.real)
	entries, _ := gitread.Config(text) // at a fault git ends
	if !whole || l.includes >= maxIncludes || depth > maxDepth {
		l.warn("%s is too long or includes too much, so that not all that git runs by it is kept", shown(path))
	}
	if l.includes++; l.includes > maxIncludes || depth > maxDepth {
		return
	}
	for _, e := range entries {
		switch e.Section + "." + e.Key {
		case "extensions.objectformat":
			l.sha256 = strings.EqualFold(e.Value, "sha256")
		case "core.worktree":
			if at, ok := l.path(l.own, e.Value); ok && depth == 0 && below(path, l.own) {
				l.tree = l.t.resolve(at).real
			}
		}
		names, composed := e.Names()
		if composed {
			l.note("dot files %s: %s is a command whose files are not all known, so that those are not kept", shown(path), shown(e.Name()))
		}
		for _, n := range names {
			dir := l.tree
			if n.What == gitread.Included {
				dir = parent(r.real)
			}
			at, ok := l.path(dir, n.Path)
			if !ok || n.What == gitread.Program && !l.likely(n.Path, at) {
				continue
			}
			l.keep(at, n.What, shown(e.Name()))
			switch n.What {
			case gitread.Included:
				l.config(at, depth+1)
			case gitread.Folder:
				if base(at) == "_" && base(parent(at)) == ".husky" {
					at = parent(at)
				}
				l.linksIn(at, e.Name(), 0)
			}
		}
	}
}

// likely says whether a word of a command is a path: it leads to something, or
// is written as one.
func (l *leads) likely(word, at string) bool {
	r := l.t.resolve(at)
	return r.missing == "" || strings.Contains(word, "/") && (r.missing == r.real || strings.IndexByte("./~"+gitread.Tree+gitread.Repository, word[0]) >= 0)
}

// path gives a path that is written in a configuration, from a folder.
func (l *leads) path(dir, written string) (string, bool) {
	written = strings.ReplaceAll(written, gitread.Tree, l.tree)
	written = strings.ReplaceAll(written, gitread.Repository, l.own)
	if rest, ok := strings.CutPrefix(written, "~/"); ok && l.f.Home != "" {
		written = join(l.f.Home, rest)
	}
	if len(written) > maxPath || strings.ContainsAny(written, "\x00\n") {
		return "", false
	}
	if !strings.HasPrefix(written, "/") {
		written = join(dir, written)
	}
	return written, true
}

// maxPath is how long a path may be (PATH_MAX).
const maxPath = 4096

// keep makes what git is led to read only, where it lies in what is written; a
// name that is missing cannot be made.
func (l *leads) keep(path string, use gitread.Use, why string) {
	r := l.t.resolve(path)
	if use == gitread.Mentioned && r.node.Kind != File {
		return
	}
	if loose := l.holdWay(r, Reason{Member: "dot files"}); loose != "" {
		l.warn("%s of %s leads %s by the link %s, which cannot be kept from being replaced: look at it before you use it", why, shown(l.of), l.by, shown(loose))
	}
	if base(r.real) == "_" && base(parent(r.real)) == ".husky" {
		r = l.t.resolve(parent(r.real)) // its scripts run those beside it
	}
	if n := l.standing(r.real, ""); n.Kind == Missing && r.node.Kind != Missing && r.missing == "" {
		r.missing, r.node = r.real, Node{} // another run's placeholder
	}
	p := place{at: r.real, kind: readOnly, rank: rankDot, node: r.node, because: Reason{Member: "dot files", Text: l.by + " is led to it by " + why}}
	if r.missing != "" {
		p.at, p.kind = r.missing, shut
		if (use == gitread.Included || use == gitread.File) && r.missing == r.real {
			p.kind = told
		}
	}
	switch root := l.rootOf(r.real); {
	case root == "" || slices.Contains(l.opened(root), root):
		return
	case p.node.Kind == Device || p.node.Kind == Pipe || p.node.Kind == Socket:
		return
	case r.node.Kind == Unseen || r.node.Kind == Tangled:
		l.warn("%s of %s names %s, which cannot be looked at, so that it is not kept", why, shown(l.of), shown(r.real))
		return
	case use == gitread.Program && r.node.Kind == Folder:
		return
	case slices.Contains(l.writes, r.real):
		l.warn("%s of %s names the write folder %s itself, so that what %s runs there is not kept", why, shown(l.of), shown(r.real), l.by)
		return
	case !l.above(p.at).kind.writable():
		return
	}
	if l.n >= maxLed || l.all >= maxLedInAll {
		if !l.full {
			l.full = true
			l.warn("%s leads %s to more places than can be kept, %s among them: look at it before you use it", shown(l.of), l.by, shown(p.at))
		}
		return
	}
	l.n, l.all = l.n+1, l.all+1
	if use != gitread.Mentioned {
		l.note("dot files %s: %s is led to it by %s of %s, so that it stays as it is: to write it, name the folder in write_dot_files", shown(p.at), l.by, why, shown(l.of))
	}
	l.add(p)
}

// submodules keeps the folders of submodules: git status at the top starts git
// in each whose .git is there, with that for its repository, whoever made it.
func (l *leads) submodules() {
	index := join(l.own, "index")
	if l.t.node(index).Kind != File {
		return
	}
	hash := 20
	if l.sha256 {
		hash = 32
	}
	links := l.t.gitlinks(index, hash)
	if links.Fault != "" {
		l.warn("%s: %s, so that folders of its submodules are not all kept: look at them before you use git there", shown(index), links.Fault)
	}
	for _, path := range links.Paths {
		if clean := cleanAbsolute("/" + path); clean != "/"+path || clean == "/" || len(path) > maxPath {
			continue // git takes no such path (verify_path in read-cache.c)
		}
		l.submodule(join(l.tree, path))
	}
}

// submodule keeps the folder of one that is not checked out as a whole: a
// placeholder for its .git alone would be one that git fails on.
func (l *leads) submodule(at string) {
	r := l.t.resolve(at)
	if root := l.rootOf(r.real); root == "" || slices.Contains(l.opened(root), root) {
		return
	}
	if loose := l.holdWay(r, Reason{Member: "dot files"}); loose != "" {
		l.warn("%s is on the way to a submodule and is a link, which cannot be kept from being replaced: look at it before you run git there", shown(loose))
		return
	}
	if r.node.Kind == Folder && l.standing(r.real, "").Kind == Folder {
		if dot := join(r.real, ".git"); l.standing(dot, "").Kind != Missing {
			if l.above(dot).kind.writable() && l.above(dot).at != dot {
				l.protectNested(survey.Repository{Path: dot})
			}
			return
		}
	}
	l.keep(r.real, gitread.Folder, "a submodule in the index")
}

// Gitlinks are the submodules of an index.
type Gitlinks struct {
	Paths []string
	// Fault says why these may not be all, or is empty.
	Fault string
}

// gitlinks gives the submodules of an index.
func (t *tree) gitlinks(index string, hash int) Gitlinks {
	return look(t, t.facts.Gitlinks, index, "which submodules are in", Gitlinks{}, func(sys *System) Gitlinks { return readGitlinks(sys, index, hash) })
}

// readGitlinks reads an index and the one that it shares entries with.
func readGitlinks(sys *System, index string, hash int) (g Gitlinks) {
	for at := index; at != ""; {
		file, size := sys.Open(at)
		if file == nil || size > maxIndex {
			g.Fault = "is too large or cannot be read"
			return g
		}
		paths, whole, shared, err := gitread.Gitlinks(file, size, hash, maxGitlinks)
		file.Close()
		g.Paths = append(g.Paths, paths...)
		switch {
		case err != nil:
			g.Fault = err.Error()
			return g
		case !whole:
			g.Fault = fmt.Sprintf("has more than %d submodules", maxGitlinks)
		}
		if at != index {
			break
		}
		if at = ""; shared != "" {
			at = join(parent(index), "sharedindex."+shared)
		}
	}
	return g
}
