package linuxwall

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
)

// An Access is what a program inside can do with a path.
type Access uint8

// What a program can do with a path. The zero value is that it is not there.
const (
	Absent Access = iota
	// Closed is there, and empty.
	Closed
	// ReadOnly and ReadWrite are this machine's.
	ReadOnly
	ReadWrite
	// Private is the sandbox's own: it starts empty and ends with it.
	Private
)

var accessNames = [...]string{"absent", "closed", "read only", "read and write", "private"}

func (a Access) String() string { return accessNames[a] }

// A Place is where a path leads inside.
type Place struct {
	// Path is where it stands inside, links followed.
	Path string
	// Access is what can be done with it.
	Access Access
	// Host is the path on this machine, or empty.
	Host string
	// Node is what stands there on this machine, or for what is the sandbox's
	// own only its kind. Of /proc and /dev it says nothing.
	Node Node
	// Because is the reason of the step that decides.
	Because Reason
}

// A view is the file system that steps make.
type view struct {
	steps []Step
	at    map[string]int
	// made are the folders that are made for what stands in them.
	made map[string]bool
}

func viewOf(steps []Step) *view {
	v := &view{steps: steps, at: make(map[string]int, len(steps)), made: map[string]bool{}}
	for i, s := range steps {
		if s.Verb == Seal {
			continue
		}
		v.at[s.At] = i
		for dir := parent(s.At); !v.made[dir]; dir = parent(dir) {
			v.made[dir] = true
		}
	}
	return v
}

// deciding gives the step that decides about a path: that of its own, or of
// the nearest folder above.
func (v *view) deciding(path string) *Step {
	for {
		if i, ok := v.at[path]; ok {
			return &v.steps[i]
		}
		if path == "/" {
			return &Step{Verb: Empty, At: "/"}
		}
		path = parent(path)
	}
}

// holdsLink says whether a link has to be made at a path: nothing stands
// there or below, and the file system above is the sandbox's own.
func (v *view) holdsLink(at string) bool {
	if _, taken := v.at[at]; taken || v.made[at] {
		return false
	}
	g := v.deciding(parent(at))
	return g.Verb == Empty || g.Verb == Close || g.Verb == MakeFolder
}

var errLoop = errors.New("its links lead in a circle")

// locate follows a path inside. lstat tells what stands at a path of this
// machine, a link at its end not followed.
func (v *view) locate(path string, lstat func(string) Node) (Place, error) {
	at, rest, links := "/", path, 0
	place := v.place("/", lstat)
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		switch name {
		case "", ".":
			continue
		case "..":
			at = parent(at)
			place = v.place(at, lstat)
			continue
		}
		if place.Node.Kind == Unseen {
			at = join(at, name)
			place.Path = at
			continue
		}
		if place.Access == Absent || place.Node.Kind != Folder && place.Node.Kind != Link {
			// What stands behind what is not there is not there.
			place = Place{Path: join(at, name), Because: place.Because, Access: notBehind(place.Access)}
			at = place.Path
			continue
		}
		at = join(at, name)
		place = v.place(at, lstat)
		if place.Node.Kind != Link {
			continue
		}
		if links++; links > maxLinks {
			return Place{}, errLoop
		}
		rest = place.Node.Target + "/" + rest
		if at = parent(at); strings.HasPrefix(place.Node.Target, "/") {
			at = "/"
		}
		place = v.place(at, lstat)
	}
	return place, nil
}

// notBehind keeps what is closed closed.
func notBehind(a Access) Access {
	if a == Closed {
		return Closed
	}
	return Absent
}

// place gives what stands at one path, whose folders are real.
func (v *view) place(at string, lstat func(string) Node) Place {
	s := v.deciding(at)
	p := Place{Path: at, Because: s.Because}
	if s.binds() {
		p.Host = rebase(at, s.At, s.From)
		if p.Node = s.Is; at != s.At {
			p.Node = lstat(p.Host)
		}
		switch {
		case p.Node.Kind == Missing:
		case s.Others && at != s.At && p.Node.closedToOthers():
			// Nor is what lies in it seen.
			p.Access, p.Node, p.Host, p.Because = Closed, Node{Kind: Unseen}, "", onlyRoot
		case s.Verb == Read:
			p.Access = ReadOnly
		default:
			p.Access = ReadWrite
		}
		return p
	}
	here := at == s.At || v.made[at]
	switch s.Verb {
	case MakeLink:
		p.Node, p.Access = Node{Kind: Link, Target: s.Text}, Private
	case Tell, WriteFile:
		p.Node, p.Access = Node{Kind: File, Mode: s.Perm}, Private
	case CloseFile:
		p.Node, p.Access = Node{Kind: File}, Closed
	case Close:
		p.Access = Closed
		if here {
			p.Node.Kind = Folder
		}
	case Processes, Devices:
		p.Access = Private
		if here {
			p.Node.Kind = Folder
		} else {
			p.Node.Kind = Unseen
		}
	default:
		if here {
			p.Node.Kind, p.Access = Folder, Private
		}
	}
	return p
}

// Lookup says where a path inside comes from, and why. system is asked what
// stands in the folders that are opened; links are followed as the program
// would find them.
func (p *Plan) Lookup(system *System, path string) (Place, error) {
	if path == "" || cleanAbsolute(path) != path {
		return Place{}, &fs.PathError{Op: "lookup", Path: path, Err: errors.New("not absolute and clean")}
	}
	place, err := viewOf(p.Steps).locate(path, system.Lstat)
	if err != nil {
		return Place{}, &fs.PathError{Op: "lookup", Path: path, Err: err}
	}
	return place, nil
}

func sortSteps(steps []Step) {
	slices.SortStableFunc(steps, func(a, b Step) int { return comparePaths(a.At, b.At) })
}
