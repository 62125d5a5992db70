package linuxwall

// startIn decides the program's current folder. It is always said: left to
// itself bubblewrap would go to $HOME where the current folder is not in view,
// without a word (bwrap(1), --chdir).
func (d *draft) startIn() {
	v := viewOf(d.plan.Steps)
	if d.f.PWD != "" && !d.f.DirShut {
		if p, err := v.locate(d.f.PWD, d.t.node); err == nil && p.Path == d.f.Dir && isFolder(p) {
			d.plan.Dir = d.f.PWD
			return
		}
	}
	if d.f.Dir != "" && !d.f.DirShut {
		if p, err := v.locate(d.f.Dir, d.t.node); err == nil && p.Path == d.f.Dir && isFolder(p) {
			d.plan.Dir = d.f.Dir
			return
		}
	}
	d.plan.Dir = "/"
	for _, w := range d.writes {
		if !d.isClosed(w) && !(d.f.DirShut && within(w, d.f.Dir)) {
			d.plan.Dir = w
			break
		}
	}
	from := "the current folder"
	if d.f.Dir != "" {
		from += " " + shown(d.f.Dir)
	}
	// Told at each start: a program that cleans up what is around it would do
	// so in another folder than its caller thinks.
	why, open := "is not in view", "; to have it in view too: --write ., or --read ."
	if d.f.DirShut {
		why, open = "may not be entered by the program", ""
	}
	d.note("%s %s: it starts in %s", from, why, shown(d.plan.Dir))
	d.warn("%s %s: the program starts in %s%s", from, why, shown(d.plan.Dir), open)
}

// isFolder says whether a program can be in a place.
func isFolder(p Place) bool {
	return p.Node.Kind == Folder && p.Access != Absent && p.Access != Closed
}
