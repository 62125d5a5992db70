package survey

import (
	"encoding/binary"
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// budget is how long a walk may take: a start waits for it, and so does the
// person at a run's end. It is for ten thousand folders and more, where the
// kernel has them at hand.
const budget = 250 * time.Millisecond

// patience is how much longer a folder may take to be listed. One of a file
// system that answers no more (a server of NFS or of FUSE that is gone) is not
// waited for: nothing but the end of its process frees a thread from there.
const patience = 2 * time.Second

// Walk looks on this machine, for budget at most, and patience. roots and
// except are as in [Order].
func Walk(roots, except []string) Found {
	if len(roots) == 0 {
		return Found{}
	}
	end := time.Now().Add(budget)
	l := lister{buf: make([]byte, 32<<10), uid: os.Getuid()}
	w := begin(l.list, Order{Roots: roots, Except: except, Late: func() bool { return time.Now().After(end) }})
	return w.within(budget+patience, func() {
		if l.uid == 0 {
			runtime.LockOSThread() // whose capabilities are changed
			defer runtime.UnlockOSThread()
			defer l.asAnybody()()
		}
		w.run()
	})
}

// A lister lists with the bare calls: os.File and its poller cost half as much
// again, and thousands of folders are listed.
type lister struct {
	buf []byte
	uid int
	// privileged calls f with what root may; nil is nobody's to call.
	privileged func(f func())
	// each is called with each entry, where it is not nil.
	each func(name string, kind Kind, ino uint64)
}

func (l *lister) list(dir string) ([]Entry, bool) {
	// A folder on the way that was swapped for a link leads nowhere.
	how := unix.OpenHow{Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	var fd int
	var err error
	open := func() {
		fd, err = unix.Openat2(unix.AT_FDCWD, dir, &how)
		for err == unix.EINTR {
			fd, err = unix.Openat2(unix.AT_FDCWD, dir, &how)
		}
	}
	open()
	if err == unix.EACCES && l.privileged != nil && (l.owns(dir) || entered(dir)) {
		l.privileged(open)
	}
	if err != nil {
		return nil, err == unix.EACCES && l.owns(dir)
	}
	defer unix.Close(fd)
	var entries []Entry
	for {
		n, err := unix.Getdents(fd, l.buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return entries, err != nil
		}
		// struct linux_dirent64 (getdents(2)): ino 8, off 8, reclen 2, type 1, name.
		for rest := l.buf[:n]; len(rest) > 19; {
			size := int(binary.NativeEndian.Uint16(rest[16:]))
			if size < 20 || size > len(rest) {
				return entries, true
			}
			ino := binary.NativeEndian.Uint64(rest)
			kind, name := rest[18], unix.ByteSliceToString(rest[19:size])
			rest = rest[size:]
			if name == "." || name == ".." {
				continue
			}
			e := Entry{name, l.kind(fd, name, kind)}
			if l.each != nil {
				l.each(name, e.Kind, ino)
			}
			entries = append(entries, e)
		}
	}
}

// asAnybody takes from this thread what lets root past modes, until the
// function that it gives is called: root inside has none of that, and what it
// cannot get at there is not in need of protection, nor could it be given any.
func (l *lister) asAnybody() (again func()) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var all [2]unix.CapUserData
	if unix.Capget(&header, &all[0]) != nil {
		return func() {}
	}
	few := all
	few[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	set := func(to [2]unix.CapUserData) error { return unix.Capset(&header, &to[0]) }
	if set(few) != nil {
		return func() {}
	}
	l.privileged = func(f func()) {
		if set(all) != nil {
			return
		}
		f()
		_ = set(few)
	}
	return func() { _ = set(all) }
}

// entered says whether a folder can be gone into.
func entered(dir string) bool {
	return unix.Faccessat(unix.AT_FDCWD, dir, unix.X_OK, unix.AT_EACCESS) == nil
}

func (l *lister) owns(dir string) bool {
	var st unix.Stat_t
	return unix.Lstat(dir, &st) == nil && int(st.Uid) == l.uid
}

// kind is told by the list itself, but on file systems that do not say.
func (l *lister) kind(fd int, name string, kind byte) Kind {
	switch kind {
	case unix.DT_DIR:
		return Folder
	case unix.DT_REG:
		return File
	case unix.DT_LNK:
		return Link
	case unix.DT_SOCK:
		return Socket
	case unix.DT_UNKNOWN:
		var st unix.Stat_t
		if unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			return kindOf(st.Mode)
		}
	}
	return Other
}

func kindOf(mode uint32) Kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return Folder
	case unix.S_IFREG:
		return File
	case unix.S_IFLNK:
		return Link
	case unix.S_IFSOCK:
		return Socket
	}
	return Other
}

// Answers says whether something listens on, or reads, the socket whose file
// stands at a path, in whatever network namespace. It asks as a datagram
// socket would: a stream's listener is not bothered, since a socket of another
// type is refused with EPROTOTYPE before it learns of it, and connecting a
// datagram socket sends nothing (unix(7); unix_find_bsd in net/unix/af_unix.c).
// Where this cannot be found out the answer is yes.
func Answers(path string) bool {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_NO_SYMLINKS}
	file, err := unix.Openat2(unix.AT_FDCWD, path, &how)
	if err == unix.ENOENT {
		return false
	}
	if err != nil {
		return true
	}
	defer unix.Close(file)
	s, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return true
	}
	defer unix.Close(s)
	// By descriptor: sun_path holds 108 bytes, and no link is followed.
	err = unix.Connect(s, &unix.SockaddrUnix{Name: "/proc/self/fd/" + strconv.Itoa(file)})
	return err != unix.ECONNREFUSED
}
