package tool

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// folders are where a tool may be started: what the sandbox writes and reads,
// each held open as it was before the program ran. The deepest that names a
// path decides about it.
type folders struct {
	entries []entry // the deepest first
	first   *folder // the first that is written
}

type entry struct {
	path    string // in full, no links
	top     *os.File
	closed  bool
	written bool
}

// A folder is held open: what is done in it is done there, whatever stands at
// its path by then.
type folder struct {
	path    string
	file    *os.File // nil: the root
	mine    bool     // closed with the call
	written bool     // the program writes it
}

func (f *folder) close() {
	if f.mine {
		f.file.Close()
	}
}

// openFolders holds the folders open. One that is not there, or is a file, is
// none. A written folder that is named by a link is what the link leads to.
func openFolders(write, read, closed []string) folders {
	var fs folders
	for i, p := range slices.Concat(write, read) {
		real, err := filepath.EvalSymlinks(p)
		if err != nil {
			continue
		}
		top, err := openTop(real)
		if err != nil {
			continue
		}
		fs.entries = append(fs.entries, entry{path: real, top: top, written: i < len(write)})
		if fs.first == nil && i < len(write) {
			fs.first = &folder{path: real, file: top, written: true}
		}
	}
	for _, p := range closed {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			p = real
		}
		fs.entries = append(fs.entries, entry{path: p, closed: true})
	}
	if fs.first == nil {
		fs.first = &folder{path: "/"}
	}
	// What is named open stays before what is closed at the same path, as in
	// the wall.
	slices.SortStableFunc(fs.entries, func(a, b entry) int { return cmp.Compare(len(b.path), len(a.path)) })
	return fs
}

func (fs *folders) close() {
	for _, e := range fs.entries {
		if e.top != nil {
			e.top.Close()
		}
	}
}

// choose opens the caller's folder where the sandbox was given it, on a way
// without links below what it was given; else it gives the first that it
// writes.
func (fs *folders) choose(dir string) *folder {
	dir = filepath.Clean(dir)
	for _, e := range fs.entries {
		rest, in := within(dir, e.path)
		if !in {
			continue
		}
		if e.closed {
			break
		}
		file, path, err := openBelow(e.top, rest)
		if err != nil {
			break
		}
		return &folder{path: path, file: file, mine: true, written: e.written}
	}
	return fs.first
}

// within gives the way from top to dir, "." for itself.
func within(dir, top string) (rest string, in bool) {
	if dir == top {
		return ".", true
	}
	if top != "/" {
		top += "/"
	}
	return strings.CutPrefix(dir, top)
}

// written gives the folders that are written, and those of them that are not
// own.
func (fs *folders) written(own []string) (written, kept []string) {
	for i, p := range own {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			own = slices.Clone(own)
			own[i] = real
		}
	}
	for _, e := range fs.entries {
		if e.written {
			written = append(written, e.path)
			if !slices.Contains(own, e.path) {
				kept = append(kept, e.path)
			}
		}
	}
	return written, kept
}
