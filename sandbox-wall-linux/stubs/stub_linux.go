package stubs

import (
	"errors"
	"fmt"
	"os"
	"path"
	"time"

	"golang.org/x/sys/unix"
)

// marker is on every stub from the moment it is made: the sticky bit.
const marker = unix.S_ISVTX

// aside is where a file stands while it is looked at before it is removed.
const aside = ".lnk-stub"

// openFolder opens the folder that a stub is in, by a path no part of which is
// a link, and checks that it is the one that is meant.
func openFolder(stub string, want Node) (fd int, is Node, err error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err = unix.Openat2(unix.AT_FDCWD, path.Dir(stub), &how)
	switch err {
	case nil:
	case unix.ELOOP, unix.ENOTDIR:
		return -1, Node{}, &Error{Path: stub, Kind: ErrMoved, Err: err}
	case unix.ENOSYS:
		return -1, Node{}, &Error{Path: stub, Err: fmt.Errorf("this kernel has no openat2, 5.6 or later is needed: %w", errors.ErrUnsupported)}
	default:
		return -1, Node{}, &Error{Path: stub, Kind: ErrCannotMake, Err: err}
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return -1, Node{}, &Error{Path: stub, Err: err}
	}
	if appendOnly(fd) {
		unix.Close(fd)
		return -1, Node{}, &Error{Path: stub, Kind: ErrCannotMake, Err: errAppendOnly}
	}
	is = nodeOf(&st)
	if want != (Node{}) && is != want {
		unix.Close(fd)
		return -1, Node{}, &Error{Path: stub, Kind: ErrMoved}
	}
	return fd, is, nil
}

// errAppendOnly is that what was made would have to stay.
var errAppendOnly = errors.New("its folder is append only, so that what holds the name could not be removed again: take that mark away (chattr -a), or let the program have the name (write_dot_files)")

// appendOnly says whether a folder is marked so (ioctl_iflags(2)).
func appendOnly(folder int) bool {
	var st unix.Statx_t
	err := unix.Statx(folder, "", unix.AT_EMPTY_PATH, 0, &st)
	return err == nil && st.Attributes&unix.STATX_ATTR_APPEND != 0
}

func nodeOf(st *unix.Stat_t) Node { return Node{Dev: st.Dev, Ino: st.Ino} }

// errTaken is that the name has something that is no stub.
var errTaken = errors.New("taken")

// take makes the stub, or shares the one that is there, and locks it shared.
// The lock keeps runs of other stores from removing it: theirs is exclusive.
func take(folder int, e *entry) (fd int, err error) {
	const attempts = 50 // each a millisecond at most, while somebody else removes it
	for range attempts {
		fd, err := takeOnce(folder, e)
		if err != unix.EAGAIN {
			return fd, err
		}
		time.Sleep(time.Millisecond)
	}
	return -1, &Error{Path: e.Path, Kind: ErrBusy}
}

// takeOnce fails with EAGAIN when the name changed meanwhile.
func takeOnce(folder int, e *entry) (fd int, err error) {
	made := true
	fd, err = makeNew(folder, e)
	if err == unix.EEXIST {
		made = false
		fd, err = lookAt(folder, e)
	}
	if err != nil {
		return -1, err
	}
	err = settle(folder, e, fd, made)
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// makeNew makes the stub: EEXIST when there is something.
func makeNew(folder int, e *entry) (int, error) {
	name := path.Base(e.Path)
	var err error
	fd := -1
	if e.File {
		fd, err = unix.Openat(folder, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o644|marker)
	} else {
		err = unix.Mkdirat(folder, name, 0o755|marker)
	}
	switch {
	case err == unix.EEXIST:
		return -1, err
	case err != nil:
		return -1, &Error{Path: e.Path, Kind: ErrCannotMake, Err: err}
	case e.File:
		if _, err := unix.Pwrite(fd, []byte(e.Text), 0); err != nil {
			unix.Unlinkat(folder, name, 0)
			unix.Close(fd)
			return -1, &Error{Path: e.Path, Kind: ErrCannotMake, Err: err}
		}
		return fd, nil
	}
	fd, err = lookAt(folder, e)
	if err == nil || err == unix.EAGAIN {
		return fd, err
	}
	unix.Unlinkat(folder, name, unix.AT_REMOVEDIR)
	if err == errTaken {
		// A umask that takes even its owner's rights away, or somebody was here.
		err = &Error{Path: e.Path, Kind: ErrCannotMake, Err: unix.EACCES}
	}
	return -1, err
}

// lookAt opens what has the name, if it can be a stub.
func lookAt(folder int, e *entry) (int, error) {
	flags := unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	if !e.File {
		flags |= unix.O_DIRECTORY
	}
	// What is no file and no folder, a device say, is not opened.
	var st unix.Stat_t
	if err := unix.Fstatat(folder, path.Base(e.Path), &st, unix.AT_SYMLINK_NOFOLLOW); err == unix.ENOENT {
		return -1, unix.EAGAIN
	} else if err != nil || st.Mode&unix.S_IFMT != e.format() {
		return -1, errTaken
	}
	fd, err := unix.Openat(folder, path.Base(e.Path), flags, 0)
	switch err {
	case nil:
		return fd, nil
	case unix.ENOENT:
		return -1, unix.EAGAIN
	case unix.EMFILE, unix.ENFILE, unix.ENOMEM:
		return -1, &Error{Path: e.Path, Kind: ErrCannotMake, Err: err}
	}
	return -1, errTaken
}

func (e *entry) format() uint32 {
	if e.File {
		return unix.S_IFREG
	}
	return unix.S_IFDIR
}

// settle locks the stub, checks that it still has the name and is one, and
// notes which it is.
func settle(folder int, e *entry, fd int, made bool) error {
	// A file system without locks has no runs to tell apart by them.
	if err := unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB); err == unix.EWOULDBLOCK {
		return unix.EAGAIN
	}
	var st, named unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &Error{Path: e.Path, Err: err}
	}
	err := unix.Fstatat(folder, path.Base(e.Path), &named, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil || nodeOf(&named) != nodeOf(&st) {
		return unix.EAGAIN
	}
	e.Node, e.Unmarked = nodeOf(&st), st.Mode&marker == 0
	if !made && (e.Unmarked || !untouched(fd, e)) {
		return errTaken
	}
	return nil
}

// untouched says whether a stub is as it was made: an empty folder, or a file
// with its text. A file that lacks it was being made by a run that was killed.
func untouched(fd int, e *entry) bool {
	if e.File {
		text := make([]byte, len(e.Text)+1)
		n, err := unix.Pread(fd, text, 0)
		return err == nil && (n == 0 || string(text[:n]) == e.Text)
	}
	again, err := unix.Openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	f := os.NewFile(uintptr(again), e.Path)
	defer f.Close()
	names, _ := f.Readdirnames(1)
	return len(names) == 0
}
