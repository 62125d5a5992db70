package direct

import (
	"fmt"
	"path"
	"strings"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
)

// A placed step is a step of a plan with what is to be made for it.
type placed struct {
	linuxwall.Step
	// own is whether the file system that it stands in is the sandbox's own:
	// there its mount point is made, elsewhere it has to be there.
	own bool
	// base is where that file system is mounted, and make the folders below it,
	// of its own, that are made first.
	base string
	make []string
	// shared is a closed folder that nothing is mounted in: it is a view of one
	// empty folder, as all of them are, and read only from the start.
	shared bool
	// skip is a step that has nothing to do any more.
	skip bool
}

// layout places steps, which are in order: what is above before what is below.
// The first is the root.
func layout(steps []linuxwall.Step) ([]placed, error) {
	if len(steps) == 0 || steps[0].At != "/" {
		return nil, fmt.Errorf("the plan does not begin at the root")
	}
	below := map[string]bool{} // has something mounted or made in it
	for _, s := range steps {
		if s.Verb == linuxwall.Seal || s.At == "/" {
			continue
		}
		for dir := path.Dir(s.At); !below[dir]; dir = path.Dir(dir) {
			below[dir] = true
		}
	}
	l := layouting{mounted: map[string]linuxwall.Verb{}, made: map[string]bool{"/": true}, shared: map[string]bool{}}
	all := make([]placed, 0, len(steps))
	for i, s := range steps {
		if path.Clean(s.At) != s.At || !path.IsAbs(s.At) {
			return nil, fmt.Errorf("%q: not a clean, absolute path", s.At)
		}
		p := placed{Step: s}
		switch {
		case s.Verb == linuxwall.Seal:
			p.skip = l.shared[s.At]
		case i == 0:
			l.mounted["/"] = s.Verb
		default:
			p.base = l.base(path.Dir(s.At))
			p.own = isOwn(l.mounted[p.base])
			if p.own {
				p.make = l.folders(p.base, path.Dir(s.At))
			}
			p.shared = s.Verb == linuxwall.Close && !below[s.At]
			l.place(s, p.shared)
		}
		all = append(all, p)
	}
	return all, nil
}

// layouting is what stands so far.
type layouting struct {
	mounted map[string]linuxwall.Verb
	made    map[string]bool // folders that are there, in file systems of the sandbox's own
	shared  map[string]bool
}

func (l *layouting) place(s linuxwall.Step, shared bool) {
	switch s.Verb {
	case linuxwall.MakeFolder:
		l.made[s.At] = true
	case linuxwall.MakeLink, linuxwall.WriteFile:
	default:
		l.mounted[s.At] = s.Verb
		// What was there below it is covered.
		for at := range l.made {
			if strings.HasPrefix(at, s.At+"/") {
				delete(l.made, at)
			}
		}
		l.made[s.At] = true
		l.shared[s.At] = shared
	}
	if s.Verb == linuxwall.Devices {
		l.made[s.At+"/pts"] = true
	}
}

// base is the mount that a path is in.
func (l *layouting) base(at string) string {
	for ; at != "/"; at = path.Dir(at) {
		if _, is := l.mounted[at]; is {
			return at
		}
	}
	return "/"
}

// folders are those that are missing from base down to a folder in it.
func (l *layouting) folders(base, dir string) []string {
	var missing []string
	for at := dir; at != base && !l.made[at]; at = path.Dir(at) {
		missing = append([]string{at}, missing...)
		l.made[at] = true
	}
	return missing
}

// onItself is whether what a step covers, or shows in its own place, is what was
// looked at, and so is what it has to stand on: on anything else it would leave
// that open under another name, as when a folder above is renamed, and one made
// in its place, between the two.
func (p *placed) onItself() bool {
	return !p.own && p.Is.Ino != 0 && (p.From == "" || p.From == p.At)
}

// isOwn is whether what a verb mounts is a file system of the sandbox's own, in
// which names can be made.
func isOwn(v linuxwall.Verb) bool {
	return v == linuxwall.Empty || v == linuxwall.Close || v == linuxwall.Devices
}
