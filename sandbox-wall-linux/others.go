package linuxwall

// othersFolders are folders of the system's configuration in which root has
// files of its own, and others see the rest: walked whole for these (see
// [System.RootOnly]), or shown as others see them.
var othersFolders = []string{"/etc", "/usr/local/etc"}

// shownToOthers gives those of a machine's folders that root's sandbox can be
// shown as others see them, so that what only root may read stays closed by its
// mode, under whatever name and however new: others may go into them, nothing in
// them is written, and nothing is executed by its name. Whether the machine can is asked later, beside
// what else is looked at: then the tree is not used any more.
func shownToOthers(t *tree, written, executed []string) (may func(folder string) bool) {
	free := map[string]bool{}
	for _, folder := range othersFolders {
		r := t.resolve(folder)
		free[folder] = r.real == folder && r.node.Kind == Folder && !onlyOwner(true, r.node.Mode)
		for _, w := range written {
			at := t.resolve(w).real
			free[folder] = free[folder] && !within(at, folder) && !within(folder, at)
		}
		for _, e := range executed {
			free[folder] = free[folder] && !within(t.resolve(e).real, folder)
		}
	}
	return func(folder string) bool { return free[folder] && t.sys.Others(folder) }
}

// walkRootOnly finds what only root may read, and which folders are shown as
// others see them, where it need not be found. A walk takes as long as all else
// that a start looks at; so it is left out where something is sure to be found.
func walkRootOnly(sys *System, may func(folder string) bool) (w walked) {
	if may(othersFolders[0]) {
		w.others = othersFolders[:1:1]
	}
	found, err := sys.RootOnly(w.others)
	w.err = err
	for _, folder := range othersFolders[1:] {
		rest := make([]string, 0, len(found))
		for _, at := range found {
			if !below(at, folder) {
				rest = append(rest, at)
			}
		}
		if len(rest) < len(found) && may(folder) {
			found, w.others = rest, append(w.others, folder)
		}
	}
	w.found = found
	return w
}

// onlyOwner says whether a mode keeps others from reading a file, or from
// listing a folder or going through it.
func onlyOwner(folder bool, mode uint32) bool {
	if folder {
		return mode&(otherRead|otherSearch) != otherRead|otherSearch
	}
	return mode&otherRead == 0
}

// closedToOthers says whether others cannot come to what it is: read a file, or
// go through a folder.
func (n Node) closedToOthers() bool {
	switch n.Kind {
	case Missing, Link, Unseen, Tangled:
		return false
	case Folder:
		return n.Mode&otherSearch == 0
	}
	return n.Mode&otherRead == 0
}

// othersFolder gives the folder shown as others see it that a path lies in, or
// is; "" is none.
func (d *draft) othersFolder(at string) string {
	for _, folder := range d.f.Others {
		if within(at, folder) {
			return folder
		}
	}
	return ""
}

// forOthers settles a place that lies in a folder shown as others see it. What
// only root may read on the way there, or is it, is closed as a whole, as it is
// where such files are covered: on what others cannot come to nothing can be put,
// and what is named there is opened in it. All else that is read there is seen as
// others do.
func (d *draft) forOthers(p *place) {
	folder := d.othersFolder(p.at)
	if folder == "" || p.rank == rankRootOnly {
		return
	}
	top := ""
	for at := p.at; at != folder; at = parent(at) {
		if n := d.t.node(at); n.Kind == Folder && onlyOwner(true, n.Mode) || n.closedToOthers() {
			top = at
		}
	}
	if top != "" {
		d.onlyRoot(top)
	}
	p.others = top == "" && p.kind == readOnly && p.from == ""
}
