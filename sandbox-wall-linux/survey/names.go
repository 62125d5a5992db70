package survey

import "cmp"

// An Inode tells one file from others, as stat(2) does.
type Inode struct{ Dev, Ino uint64 }

// Compare orders files.
func (f Inode) Compare(g Inode) int {
	return cmp.Or(cmp.Compare(f.Dev, g.Dev), cmp.Compare(f.Ino, g.Ino))
}

// A Part is where to look for names: in Roots and below, but for what is one of
// Except. A root that lies in what is excepted is looked at.
type Part struct{ Roots, Except []string }

// Names are what names some files have.
type Names struct {
	// Paths are in the order in which they were come by.
	Paths []string
	// Whole is whether all was looked through.
	Whole bool
}
