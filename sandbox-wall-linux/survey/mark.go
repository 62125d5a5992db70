package survey

import (
	"slices"
	"strings"
)

// A Stamp is a file as it stands: what stat(2) says, and the text of a link. A
// program cannot set Changed, the time of a file's last change of any kind
// (inode(7), ctime).
type Stamp struct {
	Kind     Kind
	Dev, Ino uint64
	Mode     uint32 // permissions too
	Size     int64  // in bytes
	Changed  int64  // in nanoseconds since 1970
	Target   string // of a link
	// Git says that it is a repository, or lies in one.
	Git bool
}

// Marks are files and folders as they stood, by path.
type Marks map[string]Stamp

// A Change is one file or folder that stands otherwise.
type Change struct {
	Path string
	// What is "was made", "was changed", "was replaced" or "was removed".
	What string
	// Git says that it is a repository, or what git runs or is led by.
	Git bool
}

// Compare says what changed, what is git's first, in the order of the paths. What lies in one that
// is new, or gone, is not named apart. unseenBefore and unseenAfter are folders
// of which those marks say nothing: what is in them is neither new nor gone.
func Compare(before, after Marks, unseenBefore, unseenAfter []string) []Change {
	var changes []Change
	for path, now := range after {
		was, there := before[path]
		was.Git = now.Git // what a folder is may change, and is told by itself
		switch {
		case there && now.Kind == Folder && was.Kind == Folder:
			// What changed in it is named by itself.
			if was.Ino != now.Ino || was.Dev != now.Dev {
				changes = append(changes, Change{path, "was replaced", now.Git})
			}
		case there && was != now:
			changes = append(changes, Change{path, "was changed", now.Git})
		case !there && !isBelow(path, unseenBefore):
			changes = append(changes, Change{path, "was made", now.Git})
		}
	}
	for path, was := range before {
		if _, there := after[path]; !there && !isBelow(path, unseenAfter) {
			changes = append(changes, Change{path, "was removed", was.Git})
		}
	}
	slices.SortFunc(changes, func(a, b Change) int {
		if a.Git != b.Git {
			return map[bool]int{true: -1, false: 1}[a.Git]
		}
		return strings.Compare(a.Path, b.Path)
	})
	return outermost(changes)
}

// outermost leaves out what lies in one that is named itself.
func outermost(changes []Change) []Change {
	named := map[string]bool{}
	for _, c := range changes {
		named[c.Path] = true
	}
	return slices.DeleteFunc(changes, func(c Change) bool {
		for at := c.Path; ; {
			i := strings.LastIndexByte(at, '/')
			if i <= 0 {
				return false
			}
			if at = at[:i]; named[at] {
				return true
			}
		}
	})
}

func isBelow(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") })
}
