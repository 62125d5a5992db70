package linuxwall

import (
	"errors"
	"io/fs"
	"strings"
)

// ErrNotFound is that there is no such program in view: exit status 127.
var ErrNotFound = errors.New("not found")

// ErrNotExecutable is that it is there but cannot be executed: exit status 126.
var ErrNotExecutable = errors.New("cannot be executed")

// Find gives the path inside of the program that argv0 names, as execvp(3)
// finds it: by its path if it has a slash, taken from the program's current
// folder, else in the folders of pathEnv. It is what will be executed as far
// as modes tell; who may execute it is the kernel's to say.
func (p *Plan) Find(system *System, argv0, pathEnv string) (string, error) {
	v := viewOf(p.Steps)
	absolute := func(at string) string {
		if strings.HasPrefix(at, "/") {
			return at
		}
		return join(p.Dir, at)
	}
	if argv0 == "" {
		return "", &fs.PathError{Op: "find", Path: argv0, Err: ErrNotFound}
	}
	if strings.Contains(argv0, "/") {
		at := absolute(argv0)
		if err := executable(v, at, system); err != nil {
			return "", &fs.PathError{Op: "find", Path: argv0, Err: err}
		}
		return at, nil
	}
	found := ErrNotFound
	for dir := range strings.SplitSeq(pathEnv, ":") {
		// An empty entry is the current folder (execvp(3)).
		at := join(strings.TrimRight(absolute(dir), "/"), argv0)
		switch err := executable(v, at, system); {
		case err == nil:
			return at, nil
		case errors.Is(err, ErrNotExecutable):
			found = err
		}
	}
	return "", &fs.PathError{Op: "find", Path: argv0, Err: found}
}

func executable(v *view, at string, system *System) error {
	place, err := v.locate(at, system.Lstat)
	switch {
	case err != nil:
		return ErrNotExecutable
	case place.Access == Closed && place.Node.Kind == File:
		return ErrNotExecutable
	case place.Access == Absent || place.Access == Closed:
		return ErrNotFound
	case place.Node.Kind != File || place.Node.Mode&anyExecute == 0:
		return ErrNotExecutable
	}
	return nil
}
