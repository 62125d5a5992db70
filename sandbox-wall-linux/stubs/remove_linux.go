package stubs

import (
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// fate is what became of one stub.
type fate int

const (
	removed fate = iota
	gone
	needed
	taken
	lost
)

func (r *Report) note(path string, f fate) {
	switch f {
	case removed:
		r.Removed = append(r.Removed, path)
	case needed:
		r.Kept = append(r.Kept, path)
	case taken:
		r.Taken = append(r.Taken, path)
	case lost:
		r.Lost = append(r.Lost, path)
	}
}

// look says what has the name of a stub, without touching it: gone, taken, or
// needed, which is the stub itself as it was made, open and returned.
func look(folder int, e entry) (int, fate) {
	fd, err := lookAt(folder, &e)
	switch err {
	case nil:
	case unix.EAGAIN:
		return -1, gone
	default:
		return -1, taken
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || !e.is(&st) || !untouched(fd, &e) {
		if e.is(&st) {
			unmark(fd, &st)
		}
		unix.Close(fd)
		return -1, taken
	}
	return fd, needed
}

// is says whether what was found is the stub that was written down. Inode
// numbers are used again soon, so the mark is looked for as well; of a stub
// that a killed run was making there is only the mark.
func (e *entry) is(st *unix.Stat_t) bool {
	if e.Node == (Node{}) {
		return st.Mode&marker != 0
	}
	return nodeOf(st) == e.Node && (st.Mode&marker != 0 || e.Unmarked)
}

// unmark makes a stub that somebody put something into theirs.
func unmark(fd int, st *unix.Stat_t) {
	if st.Mode&marker != 0 {
		// One that is somebody else's keeps its mark, which means nothing
		// where there is content.
		_ = unix.Fchmod(fd, st.Mode&0o777)
	}
}

// remove removes a stub that no run of this store needs. A program can have
// taken its folder's owner, who is its own, the right to.
func remove(folder int, e entry) fate {
	f := removeIn(folder, e)
	if f != lost && f != taken {
		return f
	}
	var st unix.Stat_t
	if unix.Fstat(folder, &st) != nil || int(st.Uid) != os.Geteuid() || st.Mode&ownersRights == ownersRights {
		return f
	}
	// The folder is open as a path: what is changed is the very one.
	at := fmt.Sprintf("/proc/self/fd/%d", folder)
	if unix.Chmod(at, st.Mode&0o7777|ownersRights) != nil {
		return f
	}
	f = removeIn(folder, e)
	_ = unix.Chmod(at, st.Mode&0o7777)
	return f
}

// ownersRights are what it takes to remove something from a folder.
const ownersRights = 0o300

func removeIn(folder int, e entry) fate {
	fd, f := look(folder, e)
	if f == gone && e.File {
		return removeAside(folder, e)
	}
	if f != needed {
		return f
	}
	defer unix.Close(fd)
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == unix.EWOULDBLOCK {
		return needed // by a run of another store
	}
	if e.File {
		return removeFile(folder, e)
	}
	switch unix.Unlinkat(folder, path.Base(e.Path), unix.AT_REMOVEDIR) {
	case nil:
		return removed
	case unix.ENOENT:
		return gone
	case unix.ENOTEMPTY, unix.EEXIST, unix.ENOTDIR:
		return taken
	}
	return lost
}

// removeFile moves the file aside before it looks at it for the last time:
// nothing can then take its place between the look and the removal.
func removeFile(folder int, e entry) fate {
	name := path.Base(e.Path)
	switch unix.Renameat2(folder, name, folder, name+aside, unix.RENAME_NOREPLACE) {
	case nil:
		return removeAside(folder, e)
	case unix.ENOENT:
		return gone
	case unix.EEXIST: // a run was killed here, and then the name was taken again
		if f := removeAside(folder, e); f == removed || f == gone {
			return removeFile(folder, e)
		}
	}
	return lost
}

// removeAside ends what removeFile began. What turns out to be somebody's goes
// back to its name.
func removeAside(folder int, e entry) fate {
	name := path.Base(e.Path)
	standing := e
	standing.Path = e.Path + aside
	fd, f := look(folder, standing)
	switch f {
	case gone:
		return gone
	case needed:
		unix.Close(fd)
		if unix.Unlinkat(folder, name+aside, 0) != nil {
			return lost
		}
		return removed
	}
	// The name is free, or was taken by something newer: then both stay.
	_ = unix.Renameat2(folder, name+aside, folder, name, unix.RENAME_NOREPLACE)
	return taken
}
