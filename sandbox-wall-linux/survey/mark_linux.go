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
)

// runsIn are what git runs in a repository, or is led by.
var runsIn = []string{"hooks", "config", "config.worktree", "commondir", "info/attributes"}

// Mark notes what was found as it stands now. Of what the program cannot
// write, by writable, only which file it is counts: what changes in it the
// person changes.
func Mark(f Found, writable func(path string) bool) Marks {
	m := marker{marks: Marks{}, writable: writable}
	for _, path := range f.Watched {
		m.mark(path, 0)
	}
	m.git = true
	for _, r := range f.Repositories {
		if r.Bare {
			// It is one by what lies in its folder, which may have been there.
			m.marks[join(r.Path, "HEAD")] = Stamp{Kind: File, Git: true}
		} else {
			m.mark(r.Path, markDepth) // itself, and nothing in it
		}
		for _, name := range runsIn {
			if writable(r.Path) {
				m.mark(join(r.Path, name), 1)
			}
		}
	}
	return m.marks
}

type marker struct {
	marks    Marks
	writable func(string) bool
	git      bool // what is marked is git's
}

// mark notes a path, and what is in it down to [markDepth].
func (m *marker) mark(path string, depth int) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return
	}
	s := Stamp{Kind: kindOf(st.Mode), Dev: st.Dev, Ino: st.Ino, Git: m.git}
	if s.Kind == Link {
		s.Target, _ = os.Readlink(path)
	}
	free := m.writable(path)
	if st.Mode&unix.S_ISVTX != 0 && isPlaceholder(path, s.Kind, st.Size) {
		return
	}
	if free && s.Kind != Folder {
		s.Mode, s.Size, s.Changed = st.Mode, st.Size, st.Ctim.Nano()
	}
	m.marks[path] = s
	if !free || s.Kind != Folder || depth >= markDepth {
		return
	}
	for _, name := range entriesOf(path, markEntries) {
		m.mark(join(path, name), depth+1)
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
