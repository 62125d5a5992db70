package linuxwall

import (
	"maps"
	"slices"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/survey"
)

// maxOtherNames bounds the names that are kept beside those that are known by
// what they are: each is a mount.
const maxOtherNames = 64

// A file that is kept, or hidden, is the same one by all its names (hard links,
// link(2)), and a program that made one in an earlier run, when the file was
// still its to write, would write it by that. So those of them that lie in what
// is written are looked for, and kept too. Only where a kept file has more names
// than one is anything looked for.

// sharing notes a file that is kept where it lies, if it has other names.
func (d *draft) sharing(at string, n Node) {
	if n.Kind == File && n.Links > 1 {
		d.shared = append(d.shared, place{at: at, kind: readOnly, node: n})
	}
}

// otherNames keeps the other names of what is kept. It runs when all that is
// kept is placed.
func (d *draft) otherNames() error {
	for _, p := range sorted(maps.Values(d.places)) {
		if p.node.Kind == File && p.node.Links > 1 && p.from == "" && (p.kind == readOnly || p.kind == shut) && p.at != "/" && d.above(parent(p.at)).kind.writable() {
			d.shared = append(d.shared, place{at: p.at, kind: p.kind, node: p.node})
		}
	}
	if len(d.shared) == 0 || len(d.plan.Below.Roots) == 0 {
		return nil
	}
	kept := map[survey.Inode]place{}
	names := map[survey.Inode]map[string]bool{}
	for _, p := range d.shared {
		f := survey.Inode{Dev: p.node.Dev, Ino: p.node.Ino}
		if names[f] == nil {
			names[f] = map[string]bool{}
		}
		names[f][p.at] = true
		if old, there := kept[f]; !there || old.kind == readOnly && p.kind == shut {
			kept[f] = p
		}
	}
	maps.DeleteFunc(kept, func(f survey.Inode, p place) bool { return uint64(len(names[f])) >= p.node.Links })
	if len(kept) == 0 {
		return nil
	}
	found := d.t.namesOf(d.written(), slices.SortedFunc(maps.Keys(kept), survey.Inode.Compare))
	n := 0
	for _, at := range found.Paths {
		node := d.t.node(at)
		f := survey.Inode{Dev: node.Dev, Ino: node.Ino}
		p, is := kept[f]
		if !is || node.Kind != File || names[f][at] || !d.above(at).kind.writable() {
			continue
		}
		names[f][at] = true
		if n++; n > maxOtherNames {
			continue
		}
		because := Reason{Member: "dot files", Text: "it is another name of " + shown(p.at)}
		d.note("%s %s: is another name of %s, so that it stays as that does", because.Member, shown(at), shown(p.at))
		d.add(place{at: at, kind: p.kind, rank: rankDot, node: node, because: because})
	}
	for _, f := range slices.SortedFunc(maps.Keys(kept), survey.Inode.Compare) {
		p := kept[f]
		if uint64(len(names[f])) < p.node.Links && !found.Whole || n > maxOtherNames {
			d.warn("%s has other names (hard links) that were not all found, and what is written by one of them is in it: look at it before you use it", shown(p.at))
		}
	}
	return nil
}

// written gives where the program can write, as folders to look through, and
// what in them is left out.
func (d *draft) written() survey.Part {
	var part survey.Part
	for _, p := range sorted(maps.Values(d.places)) {
		switch {
		case p.kind.writable() && p.node.Kind == Folder:
			part.Roots = append(part.Roots, p.at)
		case !d.saysNothing(p) && p.at != "/" && d.above(parent(p.at)).kind.writable():
			part.Except = append(part.Except, p.at)
		}
	}
	return part
}

// namesOf gives the names of files in a part of this machine's file system.
func (t *tree) namesOf(part survey.Part, files []survey.Inode) survey.Names {
	if t.facts.OtherNames == nil {
		if t.sys == nil {
			t.lack("which other names there are in", first(part.Roots))
			return survey.Names{}
		}
		found := t.sys.NamesOf(part, files)
		t.facts.OtherNames = &found
	}
	return *t.facts.OtherNames
}
