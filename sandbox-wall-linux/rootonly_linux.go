package linuxwall

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// maxWalked bounds the walk for what only root may read.
const maxWalked = 100_000

// rootOnly walks the configuration of the system, and looks at the top of
// /opt, for what nobody but the caller, who is root, may read. A root that is
// a link is not walked: where it leads is not opened for being there. Nor is one
// that is shown as others see it.
func rootOnly(shown []string) ([]string, error) {
	groups, err := os.Getgroups()
	if err != nil {
		return nil, err
	}
	groups = append(groups, os.Getgid())
	// Two halves at once: a start of root's sandbox waits for this walk, and
	// nearly all of it is time in the kernel.
	var halves [2]walk
	var errs [2]error
	var wait sync.WaitGroup
	for i := range halves {
		halves[i] = walk{shown: shown, uid: uint32(os.Getuid()), groups: groups, buf: make([]byte, 32<<10), half: i, limit: maxWalked}
		wait.Go(func() { errs[i] = halves[i].roots() })
	}
	wait.Wait()
	found := append(halves[0].found, halves[1].found...)
	slices.Sort(found)
	return found, errors.Join(errs[:]...)
}

func (w *walk) roots() error {
	for _, root := range []struct {
		path string
		deep bool
	}{{othersFolders[0], true}, {othersFolders[1], true}, {"/opt", false}} {
		if slices.Contains(w.shown, root.path) {
			continue
		}
		fd, err := openFolder(unix.AT_FDCWD, root.path)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", root.path, err)
		}
		err = w.folder(fd, root.path, root.deep, true)
		unix.Close(fd)
		if err != nil {
			return err
		}
	}
	return nil
}

func openFolder(dir int, name string) (int, error) {
	return unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

// walk is done with the bare calls: a start of root's sandbox waits for it,
// and os.File and its poller cost half as much again.
type walk struct {
	shown  []string // roots that are not walked
	uid    uint32
	groups []int
	buf    []byte
	found  []string
	walked int
	limit  int // of walked
	// half is which entries of a root are this walk's, by their names: two
	// walks that list a folder while it changes may not agree on an order.
	half int
}

type entry struct {
	name string
	kind byte // as in struct dirent64 (getdents(2)); DT_UNKNOWN where the file system does not say
}

// list reads the entries of an open folder that are no links.
func (w *walk) list(fd int, path string) ([]entry, error) {
	entries := make([]entry, 0, 64)
	for {
		n, err := unix.Getdents(fd, w.buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if n == 0 {
			return entries, nil
		}
		// struct linux_dirent64: ino 8, off 8, reclen 2, type 1, name.
		for rest := w.buf[:n]; len(rest) > 19; {
			size := int(binary.NativeEndian.Uint16(rest[16:]))
			if size < 20 || size > len(rest) {
				return nil, fmt.Errorf("%s: a malformed list of its entries", path)
			}
			kind, name := rest[18], unix.ByteSliceToString(rest[19:size])
			rest = rest[size:]
			if name == "." || name == ".." || kind == unix.DT_LNK {
				continue
			}
			if w.walked++; w.walked > w.limit {
				return nil, fmt.Errorf("%s: more than %d files", path, w.limit)
			}
			entries = append(entries, entry{name, kind})
		}
	}
}

// folder looks at what is in an open folder.
func (w *walk) folder(fd int, path string, deep, root bool) error {
	entries, err := w.list(fd, path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if root && parity(e.name) != w.half {
			continue
		}
		var st unix.Stat_t
		err := unix.Fstatat(fd, e.name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err == unix.ENOENT {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", join(path, e.name), err)
		}
		folder := st.Mode&unix.S_IFMT == unix.S_IFDIR
		switch {
		case st.Mode&unix.S_IFMT == unix.S_IFLNK:
		case onlyOwner(folder, st.Mode):
			// What is another user's is out of reach already: inside, root
			// has no capability to go past a mode.
			if st.Uid != w.uid && !slices.Contains(w.groups, int(st.Gid)) {
				continue
			}
			if w.found = append(w.found, join(path, e.name)); len(w.found) > maxRootOnly {
				return fmt.Errorf("%s: more than %d files that only root may read", path, maxRootOnly)
			}
		case folder && deep:
			at := join(path, e.name)
			sub, err := openFolder(fd, e.name)
			if err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
			err = w.folder(sub, at, deep, false)
			unix.Close(sub)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func parity(name string) int {
	sum := 0
	for i := range len(name) {
		sum += int(name[i])
	}
	return sum % 2
}
