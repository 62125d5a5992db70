package linuxwall

import (
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// maxLibraries bounds the walk of a folder of libraries.
const maxLibraries = 300_000

// programsIn walks a folder of libraries for the programs in it: files that may
// be executed, are of the kind that the dynamic loader loads, and are not named
// as libraries are. A folder that root inside may not enter, who outside may,
// is given itself: nothing in it can be named there, and all of it is to stay
// no code.
func programsIn(dir string) ([]string, bool) {
	w := walk{buf: make([]byte, 32<<10), limit: maxLibraries}
	fd, err := openFolder(unix.AT_FDCWD, dir)
	if err != nil {
		return nil, false
	}
	err = w.programs(fd, dir)
	unix.Close(fd)
	slices.Sort(w.found)
	return w.found, err == nil
}

func (w *walk) programs(fd int, path string) error {
	entries, err := w.list(fd, path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		var st unix.Stat_t
		if e.kind == unix.DT_UNKNOWN {
			if err := unix.Fstatat(fd, e.name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
				return err
			}
			e.kind = byte(st.Mode & unix.S_IFMT >> 12) // as dirent(3) has it: IFTODT
		}
		switch e.kind {
		case unix.DT_DIR:
			sub, err := openFolder(fd, e.name)
			if err == unix.EACCES {
				continue // nor can the program, which is the same user
			}
			if err != nil {
				return err
			}
			if os.Geteuid() == 0 && !mayEnter(nodeOf(&st, unix.Fstat(sub, &st), "")) {
				w.found = append(w.found, join(path, e.name))
			} else {
				err = w.programs(sub, join(path, e.name))
			}
			unix.Close(sub)
			if err != nil {
				return err
			}
		case unix.DT_REG:
			if strings.Contains(e.name, ".so") {
				continue
			}
			if err := unix.Fstatat(fd, e.name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
				return err
			}
			if st.Mode&anyExecute != 0 && isELF(fd, e.name) {
				w.found = append(w.found, join(path, e.name))
			}
		}
	}
	return nil
}

// isELF is also true of what cannot be read.
func isELF(dir int, name string) bool {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return true
	}
	defer unix.Close(fd)
	var magic [4]byte
	n, err := unix.Pread(fd, magic[:], 0)
	return err != nil || n == 4 && string(magic[:]) == "\x7fELF"
}

// start reads what a file needs to start.
func start(path string) Start {
	f, err := os.OpenFile(path, unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return Start{}
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return Start{}
	}
	return startOf(f)
}
