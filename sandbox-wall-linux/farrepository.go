package linuxwall

// farRepositories tells of write folders that are linked work trees, or
// submodules, of repositories that are not in view: git says of them that there
// is no repository, and not why.
func (d *draft) farRepositories() {
	v := viewOf(d.plan.Steps)
	for _, entry := range d.c.Write {
		tree := d.t.resolve(entry)
		at := join(tree.real, ".git")
		if tree.node.Kind != Folder || d.isClosed(tree.real) || d.standing(at, "").Kind != File {
			continue
		}
		repository, why := d.repositoryOf(at)
		if why != "" {
			continue // nobody's, or what git itself has something to say of
		}
		if p, err := v.locate(repository, d.t.node); err == nil && p.Path == repository && isFolder(p) {
			continue
		}
		d.without("%s is a work tree of %s, which is not in view, so that git finds no repository: to have it read: --read %[2]s; to commit to it: --write-dot-files %[3]s", shown(tree.real), shown(repository), shown(at))
	}
}
