package survey

import (
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// NamesOf looks for the names of files in a part of this machine, for budget
// at most, and patience: then none were found. No link is followed, and nothing
// is opened but folders.
func NamesOf(part Part, files []Inode) Names {
	found := make(chan Names, 1)
	go func() { found <- namesOf(part, files) }()
	enough := time.NewTimer(budget + patience)
	defer enough.Stop()
	select {
	case names := <-found:
		return names
	case <-enough.C:
		return Names{}
	}
}

func namesOf(part Part, files []Inode) Names {
	inodes := map[uint64]bool{}
	for _, f := range files {
		inodes[f.Ino] = true
	}
	var found Names
	var dir string
	l := lister{buf: make([]byte, 32<<10), uid: os.Getuid()}
	l.each = func(name string, kind Kind, ino uint64) {
		// Of a mount point the number is that of what lies under it, which is
		// looked at by lstat(2), as by whoever opens it.
		if !inodes[ino] || kind != File {
			return
		}
		at := join(dir, name)
		var st unix.Stat_t
		if unix.Lstat(at, &st) != nil {
			return
		}
		for _, f := range files {
			if f == (Inode{st.Dev, st.Ino}) {
				found.Paths = append(found.Paths, at)
			}
		}
	}
	if l.uid == 0 {
		runtime.LockOSThread() // whose capabilities are changed
		defer runtime.UnlockOSThread()
		defer l.asAnybody()()
	}
	passed := map[string]bool{}
	for _, at := range part.Except {
		passed[at] = true
	}
	folders := part.Roots
	for _, root := range folders {
		passed[root] = true
	}
	end := time.Now().Add(budget)
	for found.Whole = true; len(folders) > 0; {
		if time.Now().After(end) {
			found.Whole = false
			return found
		}
		dir, folders = folders[0], folders[1:]
		entries, shut := l.list(dir)
		if shut {
			found.Whole = false
		}
		for _, e := range entries {
			if at := join(dir, e.Name); e.Kind == Folder && !passed[at] {
				folders = append(folders, at)
			}
		}
	}
	return found
}
