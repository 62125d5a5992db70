package linuxwall

import (
	"slices"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// dotFiles keeps a project's dot files as they are, at the top of each write
// folder: what is there is read only, what is not cannot be made. They hold
// what an editor, a shell or git runs outside, for the person.
func (d *draft) dotFiles() error {
	for _, entry := range d.c.Write {
		r := d.t.resolve(entry)
		if r.node.Kind != Folder || isGit(entry, r.real) || d.isClosed(r.real) {
			continue
		}
		open := d.opened(r.real)
		if slices.Contains(open, r.real) {
			continue
		}
		for _, name := range client.DotFiles() {
			if err := d.dotFile(join(r.real, name), open); err != nil {
				return err
			}
		}
	}
	return nil
}

// opened gives what of a write folder write_dot_files opens: the folder
// itself, or dot files at its top. One folder may be named by two paths.
func (d *draft) opened(dir string) []string {
	var open []string
	for _, entry := range d.c.WriteDotFiles {
		if d.t.resolve(entry).real == dir && slices.Contains(d.c.Write, entry) {
			open = append(open, dir)
		} else if d.t.resolve(parent(entry)).real == dir {
			open = append(open, join(dir, base(entry)))
		}
	}
	return open
}

func (d *draft) dotFile(at string, open []string) error {
	n, named := d.standing(at, ""), slices.Contains(open, at)
	p := place{at: at, rank: rankDot, node: n, because: Reason{Member: "dot files", Text: "what is in it runs outside"}}
	switch {
	case n.Kind == Link && (!named || base(at) == ".git"):
		if named {
			p.because = Reason{Member: "write_dot_files", Entry: at}
		}
		if why := d.keepLinked(at, p.because, named); why != "" {
			return refuse("dot files", at, why, nil)
		}
		return nil
	case named && base(at) == ".git":
		p.kind, p.because = readWrite, Reason{Member: "write_dot_files", Entry: at}
		return d.openGit(p)
	case named:
		return nil
	case n.Kind == Unseen:
		return refuse("dot files", at, "cannot be looked at, so it cannot be protected", nil)
	case n.Kind == Missing:
		p.kind = shut
	default:
		p.kind = keptAs(n)
	}
	d.add(p)
	return nil
}

// keptAs says how what stands somewhere stays as it is. A mount that is read
// only keeps nobody from writing to a pipe, a socket or a device (sb_permission
// in fs/namei.c): whoever reads .envrc from one outside would execute it.
func keptAs(n Node) placeKind {
	switch n.Kind {
	case Pipe, Socket, Device:
		return shut
	}
	return readOnly
}

// isClosed says whether a path lies in the settings.
func (d *draft) isClosed(path string) bool {
	return slices.ContainsFunc(d.closed, func(s string) bool { return within(path, s) })
}
