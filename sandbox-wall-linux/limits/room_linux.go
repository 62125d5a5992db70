package limits

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// A Room watches file systems of a sandbox's own that are bounded in size, so
// that it can be said afterwards which of them are full.
type Room struct {
	size int64
	at   []held
}

// held is one file system of them.
type held struct {
	path string
	fd   int
}

// HoldRoom holds the file systems at these paths of a process, which are bounded
// to size bytes. What cannot be held, or is none, is left out: nothing depends on
// it. They stay in memory until Close.
func HoldRoom(pid int, size int64, paths []string) *Room {
	r := &Room{size: size}
	root, err := unix.Open(fmt.Sprintf("/proc/%d/root", pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return r
	}
	defer unix.Close(root)
	for _, path := range paths {
		fd, err := unix.Openat2(root, path, &unix.OpenHow{
			Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS,
		})
		if err != nil {
			continue
		}
		var st unix.Statfs_t
		if unix.Fstatfs(fd, &st) != nil || st.Type != unix.TMPFS_MAGIC || int64(st.Blocks)*int64(st.Bsize) != pages(size, int64(st.Bsize)) {
			unix.Close(fd)
			continue
		}
		r.at = append(r.at, held{path, fd})
	}
	return r
}

// pages is size as the kernel bounds it: in whole pages.
func pages(size, page int64) int64 { return (size + page - 1) / page * page }

// Full says which of them are full now, or is empty. Nil has none.
func (r *Room) Full() string {
	if r == nil {
		return ""
	}
	var full []string
	for _, h := range r.at {
		var st unix.Statfs_t
		if unix.Fstatfs(h.fd, &st) == nil && (st.Bfree == 0 || st.Ffree == 0) {
			full = append(full, h.path)
		}
	}
	if len(full) == 0 {
		return ""
	}
	return fmt.Sprintf("out of room in %s: limit %s", strings.Join(full, ", "), Size(r.size))
}

// Close lets go of them.
func (r *Room) Close() {
	if r == nil {
		return
	}
	for _, h := range r.at {
		unix.Close(h.fd)
	}
	r.at = nil
}
