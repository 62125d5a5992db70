package stubs

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"syscall"
)

// A Want is a name that must be taken.
type Want struct {
	_ [0]func()

	// Path is absolute and clean, and no folder of it is a link.
	Path string
	// In is the folder that it must be in, as it was looked at; zero is
	// whatever stands there.
	In Node
	// File takes the name by a file that holds Text, for programs that would
	// break on a folder.
	File bool
	Text string
}

// A Node tells one file from another, as stat(2) does.
type Node struct{ Dev, Ino uint64 }

// Limits of what is asked for and of what is read back.
const (
	maxWants  = 4096
	maxText   = 4096
	maxRecord = 4 << 20
)

// The kinds of errors. [Error] says of which path.
var (
	// ErrCannotMake is that nothing can be made there: the file system is read
	// only, the folder is somebody else's or not there, or the like. The cause
	// is wrapped.
	ErrCannotMake = errors.New("cannot be made")
	// ErrMoved is that a folder on the way is a link, or is not the one that
	// was looked at.
	ErrMoved = errors.New("its folder is not the one it was")
	// ErrBusy is that another run held the store for too long.
	ErrBusy = errors.New("held by another run for too long")
)

// An Error is what went wrong with one path.
type Error struct {
	Path string
	// Kind is one of the errors above, or nil.
	Kind error
	// Err is the cause.
	Err error
}

func (e *Error) Error() string {
	switch {
	case e.Kind == nil:
		return fmt.Sprintf("stub %s: %v", e.Path, e.Err)
	case e.Err == nil:
		return fmt.Sprintf("stub %s: %v", e.Path, e.Kind)
	}
	text := fmt.Sprintf("stub %s: %v: %v", e.Path, e.Kind, e.Err)
	if errors.Is(e.Kind, ErrCannotMake) {
		const held, or = ": a name that the program must not make is held by an empty folder, so ", ", or let the program have the name (write_dot_files)"
		switch {
		case errors.Is(e.Err, syscall.EACCES):
			text += held + "make its folder writable" + or
		case errors.Is(e.Err, syscall.ENOSPC), errors.Is(e.Err, syscall.EDQUOT):
			text += held + "make room there (df -i)" + or
		}
	}
	return text
}

func (e *Error) Unwrap() []error { return []error{e.Kind, e.Err} }

// A StoreError is what went wrong with the store, which is in the settings.
type StoreError struct {
	// Path is the file or folder.
	Path string
	// Err is the cause.
	Err error
}

func (e *StoreError) Error() string {
	text := fmt.Sprintf("settings: %s: %v", e.Path, e.Err)
	var others *othersError
	if errors.As(e.Err, &others) {
		return text // it says what to do
	}
	return text + Advice(e.Err)
}

// Advice says, behind what went wrong with a file of the settings, what to do
// about it; it is empty where another folder would not help.
func Advice(err error) string {
	const instead = ", or have LNK_HOME name another folder for the settings"
	of := func(cause error) bool { return errors.Is(err, cause) }
	switch {
	case slices.ContainsFunc(full, of):
		return ": make room there" + instead
	case slices.ContainsFunc(closed, of):
		return ": see that HOME names a folder that is yours to write" + instead
	case slices.ContainsFunc(otherwise, of):
		return ": move what is in the way" + instead
	}
	return ""
}

func (e *StoreError) Unwrap() error { return e.Err }

// An othersError is of settings that are somebody else's.
type othersError struct {
	err  error
	whos string // and what to do
}

func (e *othersError) Error() string { return e.err.Error() + ": " + e.whos }
func (e *othersError) Unwrap() error { return e.err }

// Causes that another folder does not have.
var (
	full      = []error{syscall.ENOSPC, syscall.EDQUOT}
	closed    = []error{syscall.EACCES, syscall.EPERM, syscall.EROFS, syscall.ENOENT}
	otherwise = []error{syscall.ENOTDIR, syscall.ELOOP, syscall.EISDIR}
)

// A Report is what became of stubs.
type Report struct {
	_ [0]func()

	// Removed are gone.
	Removed []string
	// Kept are needed by another run, which removes them.
	Kept []string
	// Taken hold something that somebody put there, and stay as they are.
	Taken []string
	// Lost may stand in a folder that was moved away or cannot be written
	// anymore: they are empty, and harm nobody.
	Lost []string
}

func checkWants(wants []Want) error {
	if len(wants) > maxWants {
		return fmt.Errorf("stubs: %d names, and %d can be taken", len(wants), maxWants)
	}
	for _, w := range wants {
		if !cleanPath(w.Path) {
			return &Error{Path: w.Path, Err: errors.New("not an absolute, clean path to something in a folder")}
		}
		if len(w.Text) > maxText || w.Text != "" && !w.File {
			return &Error{Path: w.Path, Err: fmt.Errorf("a text of %d bytes, want a file of at most %d", len(w.Text), maxText)}
		}
	}
	return nil
}

func cleanPath(p string) bool {
	return path.IsAbs(p) && path.Clean(p) == p && p != "/" && !strings.ContainsRune(p, 0)
}
