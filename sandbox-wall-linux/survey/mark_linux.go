package survey

import (
	"os"

	"golang.org/x/sys/unix"
)

// Limits of what is noted of one watched folder: how deep, and how much of a
// folder's entries. SECURITY says them. An agent's skill has its scripts four
// folders deep (.claude/skills/<name>/scripts).
const (
	markDepth   = 4
	markEntries = 512
	// markAll bounds what is noted in all such folders together, of which each
	// has its share: whoever waits for an end, or for the next start, waits for
	// it. In repositories it is so much again.
	markAll = 1 << 15
)

// runsIn are what git runs in a repository, or is led by.
var runsIn = []string{"hooks", "config", "config.worktree", "commondir", "info/attributes"}

// Mark notes what was found as it stands now. Of what the program cannot
// write, by writable, only which file it is counts: what changes in it the
// person changes. unseen are folders that hold more than is noted.
func Mark(f Found, writable func(path string) bool) (marks Marks, unseen []string) {
	m := marker{marks: Marks{}, writable: writable, all: markAll}
	var folders []string
	for _, path := range f.Watched {
		if m.mark(path) {
			folders = append(folders, path)
		}
	}
	m.insides(folders, 1)
	m.git, folders = true, nil
	for _, r := range f.Repositories {
		if r.Bare {
			// It is one by what lies in its folder, which may have been there.
			m.marks[join(r.Path, "HEAD")] = Stamp{Kind: File, Git: true}
		} else {
			m.mark(r.Path)
		}
		for _, name := range runsIn {
			if at := join(r.Path, name); writable(r.Path) && m.mark(at) {
				folders = append(folders, at)
			}
		}
	}
	m.insides(folders, 2)
	return m.marks, m.unseen
}

type marker struct {
	marks    Marks
	writable func(string) bool
	git      bool // what is marked is git's
	room     int  // for so much more; less than 0 is that there was more
	all      int  // in all folders
	unseen   []string
}

// mark notes a path, and says whether it is a folder that the program writes.
func (m *marker) mark(path string) (folder bool) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return false
	}
	s := Stamp{Kind: kindOf(st.Mode), Dev: st.Dev, Ino: st.Ino, Git: m.git}
	if s.Kind == Link {
		s.Target, _ = os.Readlink(path)
	}
	free := m.writable(path)
	if st.Mode&unix.S_ISVTX != 0 && isPlaceholder(path, s.Kind, st.Size) {
		return false
	}
	if free && s.Kind != Folder {
		s.Mode, s.Size, s.Changed = st.Mode, st.Size, st.Ctim.Nano()
	}
	m.marks[path] = s
	return free && s.Kind == Folder
}

// insides notes what is in folders, each of which has its share of what may be
// noted; those that it does not suffice for share what the others left.
func (m *marker) insides(folders []string, depth int) {
	left := m.all
	for range 2 {
		var full []string
		room := left
		for i, path := range folders {
			share := room / (len(folders) - i)
			m.room = share
			m.inside(path, depth)
			used := share - max(m.room, 0)
			if room -= used; m.room < 0 {
				full = append(full, path)
			} else {
				left -= used
			}
		}
		folders = full
	}
	m.unseen = append(m.unseen, folders...)
}

// inside notes what is in a folder, which is so deep, down to [markDepth].
func (m *marker) inside(dir string, depth int) {
	if depth > markDepth {
		return
	}
	for _, name := range entriesOf(dir, markEntries) {
		if m.room--; m.room < 0 {
			return
		}
		if at := join(dir, name); m.mark(at) {
			m.inside(at, depth+1)
		}
	}
}

// isPlaceholder says whether a file or folder with the mark of a run's
// placeholder (package stubs) still means nothing to git: it goes with that run.
func isPlaceholder(path string, kind Kind, size int64) bool {
	const itself = ".\n" // a commondir that says so means the same as none
	switch kind {
	case Folder:
		return len(entriesOf(path, 1)) == 0
	case File:
		if size == int64(len(itself)) {
			text, _ := os.ReadFile(path)
			return string(text) == itself
		}
		return size == 0
	}
	return false
}

func entriesOf(dir string, most int) []string {
	f, err := os.OpenFile(dir, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(most)
	return names
}
