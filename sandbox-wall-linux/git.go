package linuxwall

import "strings"

// maxRepositories is how many submodules of a repository are opened one by
// one. Each costs five mounts; of a repository with more, all stay read only.
const maxRepositories = 32

// openGit opens a repository's own folder (gitrepository-layout(5)) to write,
// but for what git runs, or where it finds what it runs. p is that folder, or
// the file that stands for it in a linked worktree.
func (d *draft) openGit(p place) error {
	switch p.node.Kind {
	case Folder:
		d.add(p)
		return d.protectGit(p.at)
	case File:
		return d.openWorktree(p)
	case Missing:
		// To make one is to make its hooks: there is nothing to protect yet.
		d.without("%s: there is no repository yet, so that none can be made: run git init outside, or name the folder itself", p.because)
		d.add(place{at: p.at, kind: shut, rank: rankDot, node: p.node, because: Reason{Member: "dot files", Text: "what is in it runs outside"}})
		return nil
	}
	return refuse(p.because.Member, p.at, "is "+p.node.Kind.String()+": neither a repository's folder nor the file of a worktree", nil)
}

// Files of a repository that decide what git runs. What is missing is made for
// a while, as what means the same as nothing: a folder named hooks is an empty
// one; config.worktree may be empty (git reads it when extensions.worktreeConfig
// is set, and fails on a folder); commondir may name its own folder. Without
// that last one, a repository with a config and hooks of the program's would
// take the place of this one: git reads commondir in any repository.
var gitFiles = []struct{ name, nothing string }{
	{"config", ""},
	{"config.worktree", ""},
	{"commondir", ".\n"},
}

// protectGit keeps what git runs, or is led by, read only in a repository.
// Of its submodules none can be added: git takes one that is there for its own.
func (d *draft) protectGit(dir string) error {
	because := Reason{Member: "dot files", Text: "git runs it, or is led by it"}
	hooks := join(dir, "hooks")
	if err := d.protectFile(place{at: hooks, node: d.standing(hooks, ""), because: because}); err != nil {
		return err
	}
	for _, f := range gitFiles {
		at := join(dir, f.name)
		if err := d.protectFile(place{at: at, node: d.standing(at, f.nothing), text: f.nothing, because: because}); err != nil {
			return err
		}
	}
	if err := d.protectAttributes(join(dir, "info"), because); err != nil {
		return err
	}
	worktrees, whole := d.list(join(dir, "worktrees"))
	if !whole {
		return refuse("dot files", join(dir, "worktrees"), "too many worktrees to protect each: run git worktree prune", nil)
	}
	for _, name := range worktrees {
		if d.t.node(join(join(dir, "worktrees"), name)).Kind != Folder {
			continue
		}
		for _, file := range []string{"commondir", "gitdir", "config.worktree"} {
			at := join(join(join(dir, "worktrees"), name), file)
			p := place{at: at, node: d.standing(at, ""), because: because}
			if p.node.Kind == Missing && file != "config.worktree" {
				continue // no worktree of git's
			}
			if err := d.protectFile(p); err != nil {
				return err
			}
		}
	}
	return d.protectModules(join(dir, "modules"))
}

// protectAttributes keeps info/attributes, which sends files through filters
// (gitattributes(5)) and shows in no diff. Without its folder nothing stands
// there to hold it: then the program has a folder of its own in its place, for
// what git writes there when it tidies up.
func (d *draft) protectAttributes(info string, because Reason) error {
	if !d.above(info).kind.writable() {
		return nil
	}
	n := d.standing(info, "")
	switch n.Kind {
	case Folder:
		at := join(info, "attributes")
		return d.protectFile(place{at: at, node: d.standing(at, ""), because: because})
	case Missing:
		d.add(place{at: info, kind: ours, rank: rankDot, perm: 0o755, node: n, because: because})
		return nil
	}
	return d.protectFile(place{at: info, node: n, because: because})
}

// protectFile makes one file or folder of a repository read only, or keeps it
// from being made. Where the program cannot write as it is, nothing is added:
// three empty files make a repository of any folder, and what is hidden in that
// would be shown by what protects it.
func (d *draft) protectFile(p place) error {
	if !d.above(parent(p.at)).kind.writable() {
		return nil
	}
	p.rank, p.kind = rankDot, keptAs(p.node)
	switch {
	case p.node.Kind == Link:
		if why := d.keepLinked(p.at, p.because, false); why != "" {
			return refuse("dot files", p.at, why, nil)
		}
		return nil
	case p.node.Kind == Missing && base(p.at) == "hooks":
		p.kind = shut
	case p.node.Kind == Missing:
		p.kind = told
	}
	d.add(p)
	return nil
}

// protectModules makes the folder of a repository's submodules read only and
// opens the repositories in it again, each with its own protected.
func (d *draft) protectModules(dir string) error {
	if !d.above(dir).kind.writable() {
		return nil
	}
	because := Reason{Member: "dot files", Text: "git takes what is in it for submodules"}
	n := d.standing(dir, "")
	p := place{at: dir, rank: rankDot, node: n, kind: readOnly, because: because}
	switch n.Kind {
	case Missing:
		p.kind = shut
	case Folder:
	default:
		return refuse("dot files", dir, "is "+n.Kind.String()+", not the folder of submodules", nil)
	}
	d.add(p)
	if n.Kind == Missing {
		return nil
	}
	found, whole := d.repositories(dir, nil)
	d.repositoriesOpen += len(found)
	if !whole || d.repositoriesOpen > maxRepositories {
		d.note("dot files %s: more than %d submodules, so that these stay read only", shown(dir), maxRepositories)
		return nil
	}
	for _, at := range found {
		if d.above(at).at != dir {
			continue // it, or what it lies in, was named
		}
		d.add(place{at: at, kind: readWrite, rank: rankDot, node: d.t.node(at), because: Reason{Member: "dot files", Text: "a submodule's repository"}})
		if err := d.protectGit(at); err != nil {
			return err
		}
	}
	return nil
}

// repositories finds the repositories below a folder: submodules are named by
// their path, so that they may lie several folders down.
func (d *draft) repositories(dir string, found []string) ([]string, bool) {
	names, whole := d.list(dir)
	if !whole {
		return found, false
	}
	for _, name := range names {
		at := join(dir, name)
		if d.t.node(at).Kind != Folder {
			continue
		}
		if d.t.node(join(at, "HEAD")).Kind == File {
			if found = append(found, at); len(found) > maxRepositories {
				return found, false
			}
			continue
		}
		if found, whole = d.repositories(at, found); !whole {
			return found, false
		}
	}
	return found, true
}

// list gives the names in a folder; of one that is not there, none.
func (d *draft) list(dir string) ([]string, bool) {
	if d.t.node(dir).Kind != Folder {
		return nil, true
	}
	return d.t.names(dir)
}

// openWorktree opens the repository of a linked worktree or a submodule, whose
// .git is a file that names a folder. The file may be anyone's, so that folder
// must be a worktree's in a repository, or a submodule's, and name this file in
// turn.
func (d *draft) openWorktree(p place) error {
	d.add(place{at: p.at, kind: readOnly, rank: p.rank, node: p.node, because: Reason{Member: "dot files", Text: "what is in it runs outside"}})
	common, why := d.repositoryOf(p.at)
	if why != "" {
		d.without("%s: %s, so that it stays read only", p.because, why)
		return nil
	}
	if g := d.above(common); g.kind == shut || g.kind == procFS || g.kind == devFS {
		d.without("%s: its repository %s lies in what is closed", p.because, shown(common))
		return nil
	}
	because := p.because
	because.Text = "the repository of this work tree"
	d.add(place{at: common, kind: readWrite, rank: rankDot, node: d.t.node(common), because: because})
	return d.protectGit(common)
}

// repositoryOf gives the repository that the .git file of a worktree belongs
// to, or why there is none.
func (d *draft) repositoryOf(file string) (common, why string) {
	text, whole := d.t.text(file)
	dir, ok := strings.CutPrefix(strings.TrimRight(text, "\r\n"), "gitdir: ")
	if !whole || !ok {
		return "", "it does not say gitdir"
	}
	own, ok := d.gitFolder(parent(file), dir)
	if !ok {
		return "", "its gitdir is not there"
	}
	if base(parent(own)) != "worktrees" {
		return d.submoduleOf(file, own)
	}
	common = parent(parent(own))
	back, _ := d.t.text(join(own, "gitdir"))
	if strings.TrimRight(back, "\r\n") != file {
		return "", "its repository does not name it in turn (git worktree repair)"
	}
	up, _ := d.t.text(join(own, "commondir"))
	if led, ok := d.gitFolder(own, strings.TrimRight(up, "\r\n")); !ok || led != common {
		return "", "its commondir is not its repository"
	}
	if d.t.node(join(common, "HEAD")).Kind != File || d.t.node(join(common, "objects")).Kind != Folder {
		return "", "its repository has no HEAD or no objects"
	}
	return common, ""
}

// submoduleOf gives the repository that the .git file of a submodule belongs
// to, which is own: its configuration names the file's folder in turn, as
// core.worktree (git-config(1)).
func (d *draft) submoduleOf(file, own string) (repository, why string) {
	if d.t.node(join(own, "HEAD")).Kind != File || d.t.node(join(own, "objects")).Kind != Folder {
		return "", "its gitdir is neither a worktree nor a repository"
	}
	text, whole := d.t.text(join(own, "config"))
	names, ok := coreWorktree(text)
	if led, there := d.gitFolder(own, names); !whole || !ok || !there || led != parent(file) {
		return "", "its repository does not name it in turn (core.worktree)"
	}
	return own, ""
}

// coreWorktree reads core.worktree of a configuration, written plainly: what is
// quoted or spread over lines is not taken.
func coreWorktree(config string) (path string, ok bool) {
	core := false
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			core = strings.EqualFold(line, "[core]")
			continue
		}
		name, value, has := strings.Cut(line, "=")
		if core && has && strings.EqualFold(strings.TrimSpace(name), "worktree") {
			path, ok = strings.TrimSpace(value), !strings.ContainsAny(value, "\"\\#;")
		}
	}
	return path, ok
}

// gitFolder gives the real folder that a path written in a file of git's
// leads to, unless a link in a write folder is on the way.
func (d *draft) gitFolder(dir, path string) (string, bool) {
	if path == "" || strings.ContainsAny(path, "\x00\n") {
		return "", false
	}
	if !strings.HasPrefix(path, "/") {
		path = join(dir, path)
	}
	r := d.t.resolve(path)
	return r.real, r.node.Kind == Folder && linkedIn(r.links, d.writes) == "" && !d.t.anyEarlier(r.links)
}
