package linuxwall

import (
	"slices"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/gitread"
)

// A link that says what is run outside is kept with what it leads to. It is
// bound on itself: the kernel puts a mount on a link that it is given by a
// descriptor (move_mount(2)), and what is a mount point is neither renamed nor
// removed. bubblewrap names its mount points by paths, which follow a link.

// keepLinked keeps a link at a dot file's place, and what it leads to. It says
// why that cannot be, or nothing. opened is whether what it leads to is a
// repository that the program may write.
func (d *draft) keepLinked(at string, because Reason, opened bool) (why string) {
	if d.f.By != Kernel {
		return "is a link, which bubblewrap cannot keep from being replaced: put there what it leads to, name the folder in write_dot_files, or have the kernel make the sandbox (Linux 5.12, without --bubblewrap)"
	}
	r := d.t.resolve(at)
	to := place{at: r.real, kind: readOnly, rank: rankDot, node: d.standing(r.real, ""), because: because}
	to.because.Text = "the link " + shown(at) + " leads to it"
	switch {
	case r.node.Kind == Unseen || r.node.Kind == Tangled:
		return "is a link to what cannot be looked at, so it cannot be protected: put there what it leads to"
	case slices.ContainsFunc(d.writes, func(w string) bool { return within(w, r.real) }):
		return "is a link to " + shown(r.real) + ", which is written: put there what it leads to, or name the folder that it stands in in write_dot_files"
	case r.missing != "":
		to.at, to.kind, to.node = r.missing, shut, Node{}
	case to.node.Kind == Missing:
		to.kind = shut // another run's placeholder
	}
	d.holdWay(r, because)
	switch {
	case !d.above(to.at).kind.writable():
		if opened {
			d.note("%s: is a link to %s, which is not in what is written, so that it stays as it is", because, shown(r.real))
		} else if !d.above(to.at).kind.host() {
			d.note("%s %s: is a link to %s, which is not in view: name that in read", because.Member, shown(at), shown(r.real))
		}
	case opened && to.node.Kind == Folder:
		if err := d.protectGit(to.at); err != nil {
			return err.Error()
		}
	default:
		d.add(to)
	}
	return ""
}

// holdWay keeps the way that a path leads, where the program could lead it
// elsewhere: its links, and folders that it passes to leave them by "..". It
// gives a link that cannot be kept, or "".
func (d *draft) holdWay(r resolution, because Reason) (loose string) {
	because.Text = "so that " + shown(r.real) + " is what is led to"
	for _, dir := range r.left {
		if g := d.above(dir); g.kind.writable() && g.at != dir {
			d.add(place{at: dir, kind: pinned, rank: rankDot, node: d.t.node(dir), because: because})
		}
	}
	for _, at := range r.links {
		switch {
		case !d.above(at).kind.writable():
		case d.f.By != Kernel:
			loose = at
		default:
			d.add(place{at: at, kind: readOnly, rank: rankDot, node: d.t.node(at), because: because})
		}
	}
	return loose
}

// ownLinks are what git goes by in a repository's own folder, and finds by a
// link where that is one (gitrepository-layout(5)).
var ownLinks = []gitread.Name{
	{Path: "hooks", What: gitread.Folder},
	{Path: "config", What: gitread.Included},
	{Path: "config.worktree", What: gitread.Included},
	{Path: "commondir", What: gitread.File},
	{Path: "info", What: gitread.Folder},
	{Path: "info/attributes", What: gitread.File},
}

// byLinks keeps what the links in a repository's own folder lead to: hooks are
// often a link to a folder of the project, or links to its scripts.
func (l *leads) byLinks(dir string) {
	for _, own := range ownLinks {
		at := join(dir, own.Path)
		r := l.t.resolve(at)
		if len(r.links) > 0 {
			l.keep(at, own.What, own.Path)
		}
		l.sharing(r.real, r.node)
	}
	l.linksIn(join(dir, "hooks"), "hooks", 0)
}

// linksIn keeps what the links in a folder lead to, and of those in the folders
// in it, as deep as is said.
func (l *leads) linksIn(dir, name string, deep int) {
	r := l.t.resolve(dir)
	if r.node.Kind != Folder {
		return
	}
	names, whole := l.t.names(r.real)
	if !whole {
		l.warn("%s of %s cannot be listed, so that what links in it lead to is not kept: look at it before you use it", shown(name), shown(l.of))
	}
	for _, n := range names {
		if strings.HasSuffix(n, ".sample") {
			continue // git's own examples, which it does not run
		}
		at := join(r.real, n)
		switch node := l.t.node(at); {
		case node.Kind == Link:
			l.keep(at, gitread.File, shown(name+"/"+n))
		case node.Kind == Folder && deep > 0:
			l.linksIn(at, name+"/"+n, deep-1)
		default:
			l.sharing(at, node)
		}
	}
}

// byEditors keeps what links in an editor's folders lead to.
func (l *leads) byEditors() {
	var folders []string
	for at, p := range l.places {
		if name := base(at); p.rank == rankDot && p.kind == readOnly && p.node.Kind == Folder && (name == ".vscode" || name == ".idea") {
			folders = append(folders, at)
		}
	}
	slices.Sort(folders)
	for _, at := range folders {
		l.by, l.of, l.n, l.full = "an editor", at, 0, false
		l.linksIn(at, base(at), 1)
	}
}
