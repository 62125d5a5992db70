package linuxwall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/landlock"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/procfs"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/survey"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/written"
)

// ReadFacts reads what a plan for a confinement depends on, of a machine and of
// the caller, whose environment is environ. It starts nothing, but where the
// plan is for bubblewrap, its --help, when that file is new to this machine.
func ReadFacts(sys *System, c client.Confinement, net NetFrom, by Maker, environ []string) (Facts, error) {
	return readFacts(sys, c, net, by, environ)
}

// PlanHere is [PlanFor] of what [ReadFacts] reads, drawn once.
func PlanHere(sys *System, c client.Confinement, net NetFrom, by Maker, environ, argv []string) (Plan, error) {
	t, err := gather(sys, c, net, by, environ)
	if err != nil {
		return Plan{}, err
	}
	return draw(c, net, t, argv)
}

// LocalSystem is this machine, without what package direct can show of it.
func LocalSystem() *System {
	return &System{
		UID:          os.Getuid(),
		Lstat:        lstat,
		Names:        names,
		Text:         text,
		Open:         openFile,
		Makeable:     makeable,
		ReadOnly:     readOnlyMount,
		Dir:          currentDir,
		Enter:        enter,
		Program:      program,
		Walk:         survey.Walk,
		NamesOf:      survey.NamesOf,
		Answers:      survey.Answers,
		RootOnly:     rootOnly,
		SocketTables: socketTables,
		Landlock:     landlock.ABI,
		Start:        start,
		Programs:     programsIn,
		BwrapHelp:    bwrapHelp,
		Keep:         written.KeepFile,
	}
}

func lstat(path string) Node {
	var st unix.Stat_t
	return nodeOf(&st, ignoringEINTR(func() error { return unix.Lstat(path, &st) }), path)
}

func ignoringEINTR(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

// nodeOf says what a stat found.
func nodeOf(st *unix.Stat_t, err error, path string) Node {
	switch err {
	case nil:
	case unix.ENOENT, unix.ENOTDIR:
		return Node{}
	case unix.ELOOP:
		return Node{Kind: Tangled}
	default:
		return Node{Kind: Unseen}
	}
	n := Node{
		Dev: st.Dev, Ino: st.Ino, Mode: st.Mode & 0o7777, UID: st.Uid, GID: st.Gid, Links: uint64(st.Nlink),
		Size: st.Size, Changed: st.Ctim.Nano(),
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		n.Kind = Folder
	case unix.S_IFREG:
		n.Kind = File
	case unix.S_IFSOCK:
		n.Kind = Socket
	case unix.S_IFIFO:
		n.Kind = Pipe
	case unix.S_IFLNK:
		target, err := os.Readlink(path)
		if err != nil {
			return Node{Kind: Unseen}
		}
		n.Kind, n.Target = Link, target
	default:
		n.Kind = Device
	}
	return n
}

func names(dir string, limit int) ([]string, bool) {
	fd, err := openAgain(dir, unix.O_DIRECTORY|unix.O_NOFOLLOW)
	if err != nil {
		return nil, false
	}
	defer unix.Close(fd)
	buf := entryBuffers.Get().(*[]byte)
	defer entryBuffers.Put(buf)
	var found []string
	for len(found) <= limit {
		n, err := unix.ReadDirent(fd, *buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			slices.Sort(found)
			return found, err == nil
		}
		_, _, found = unix.ParseDirent((*buf)[:n], -1, found)
	}
	slices.Sort(found)
	return found[:limit], false
}

// entryBuffers are what a folder's entries are read into.
var entryBuffers = sync.Pool{New: func() any { b := make([]byte, 8<<10); return &b }}

// openAgain opens what is there, for as long as a signal comes between.
func openAgain(path string, flags int) (int, error) {
	for {
		fd, err := unix.Open(path, flags|unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// openFile does not follow a link, nor wait for a pipe's other end.
func openFile(path string) (io.ReadCloser, int64) {
	f, err := os.OpenFile(path, unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, 0
	}
	return f, info.Size()
}

// text does as openFile does, for what is read at once.
func text(path string, limit int) (string, bool) {
	fd, err := openAgain(path, unix.O_NOFOLLOW|unix.O_NONBLOCK)
	if err != nil {
		return "", false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return "", false
	}
	b := make([]byte, 0, min(max(int(st.Size), 0), limit)+1)
	for {
		n, err := unix.Read(fd, b[len(b):cap(b)])
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return string(b), err == nil
		}
		if b = b[:len(b)+n]; len(b) > limit {
			return string(b[:limit]), false
		}
		b = slices.Grow(b, 1)
	}
}

// makeable also counts a folder of the caller's own that it may not write in
// now: the program could allow itself to.
func makeable(dir string) bool {
	err := unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK|unix.X_OK, unix.AT_EACCESS)
	if err == unix.EROFS || immutable(dir) {
		return false
	}
	return err == nil || int(lstat(dir).UID) == os.Getuid()
}

// immutable says whether a folder is marked so (ioctl_iflags(2)): nothing is
// made in it, nor can a program change that, who has no capability outside.
func immutable(dir string) bool {
	var st unix.Statx_t
	err := ignoringEINTR(func() error { return unix.Statx(unix.AT_FDCWD, dir, unix.AT_SYMLINK_NOFOLLOW, 0, &st) })
	return err == nil && st.Attributes&unix.STATX_ATTR_IMMUTABLE != 0
}

func readOnlyMount(path string) bool {
	var fs unix.Statfs_t
	err := ignoringEINTR(func() error { return unix.Statfs(path, &fs) })
	return err == nil && fs.Flags&unix.ST_RDONLY != 0
}

func currentDir() string {
	dir, err := unix.Getwd()
	if err != nil || !strings.HasPrefix(dir, "/") {
		return "" // "(unreachable)…" for one that is not below our root (getcwd(2))
	}
	return dir
}

// enter looks at the current folder, whose way there may lead through folders
// of the sandbox's own. It goes by the mode for root, who inside is no more than
// anybody.
func enter(dir string) bool {
	if os.Geteuid() != 0 {
		return unix.Faccessat(unix.AT_FDCWD, ".", unix.X_OK, unix.AT_EACCESS) == nil
	}
	n := lstat(dir)
	return n.Kind != Folder || mayEnter(n) // whatever else that is, it is said elsewhere
}

// mayEnter goes by a folder's mode alone, which is all that root has inside.
func mayEnter(n Node) bool {
	groups, _ := os.Getgroups()
	switch {
	case int(n.UID) == os.Geteuid():
		return n.Mode&0o100 != 0
	case int(n.GID) == os.Getegid() || slices.Contains(groups, int(n.GID)):
		return n.Mode&0o010 != 0
	}
	return n.Mode&otherSearch != 0
}

func program() (string, Node) {
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return "", Node{}
	}
	var st unix.Stat_t
	return path, nodeOf(&st, unix.Stat("/proc/self/exe", &st), path)
}

// socketTables reads /proc/<pid>/net/unix of this process and, where its
// network namespace is a given one, of the processes it comes from and of the
// first: paths are connected to across network namespaces, but only listed in
// their own. The tables are readable whoever's the process is.
func socketTables(net NetFrom) ([]string, error) {
	pids := []string{"self"}
	if net == Given {
		ppid := os.Getppid()
		pids = append(pids, strconv.Itoa(ppid), parentOf(ppid), "1")
	}
	var tables []string
	var seen []uint64
	for _, pid := range pids {
		at := "/proc/" + pid + "/net/unix"
		var st unix.Stat_t
		if pid == "" || unix.Stat(at, &st) != nil || slices.Contains(seen, st.Ino) {
			continue // gone, or hidden (proc(5), hidepid), or of a namespace that was read
		}
		table, whole := text(at, maxTable)
		if !whole {
			return nil, fmt.Errorf("%s: cannot be read whole", at)
		}
		seen, tables = append(seen, st.Ino), append(tables, table)
	}
	if len(tables) == 0 || net == Given && len(tables) == 1 {
		return nil, errors.New("no table of this machine's sockets can be read in /proc")
	}
	return tables, nil
}

// parentOf gives the parent of a process, or "".
func parentOf(pid int) string {
	stat, _ := text("/proc/"+strconv.Itoa(pid)+"/stat", maxText)
	f := procfs.Stat(stat)
	if len(f) < 2 {
		return ""
	}
	return f[1]
}

// bwrapWait bounds asking bubblewrap what it can do.
const bwrapWait = 5 * time.Second

func bwrapHelp(path string) (help, version string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), bwrapWait)
	defer cancel()
	ask := func(option string) (string, error) {
		cmd := exec.CommandContext(ctx, path, option)
		cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
		out, err := cmd.Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			said, _, _ := strings.Cut(string(exit.Stderr), "\n")
			return "", fmt.Errorf("%s: %w: %s", option, err, shown(said))
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", option, err)
		}
		return string(out), nil
	}
	if help, err = ask("--help"); err != nil {
		return "", "", err
	}
	version, err = ask("--version")
	return help, version, err
}
