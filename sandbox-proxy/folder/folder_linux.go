package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Folder is one that was judged. It stays the one that it was, whatever is put
// at its path.
type Folder struct {
	path string
	dir  *os.File
	facts
}

// Open judges a folder and holds it. With a group other than [Anyone] it has to
// be shared with that one, whoever's it is.
func Open(path string, group int) (*Folder, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR):
		return nil, fmt.Errorf("%s: %w: it is no folder", path, ErrFolder)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f := &Folder{path: path, dir: os.NewFile(uintptr(fd), path)}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.facts = facts{isDir: true, mode: st.Mode & 0o7777, uid: int(st.Uid), gid: int(st.Gid)}
	groups, err := unix.Getgroups()
	if err == nil {
		err = judge(f.facts, unix.Geteuid(), func(gid int) bool { return gid == unix.Getegid() || slices.Contains(groups, gid) }, group)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// Make makes a private folder where there is nothing, and makes the user's own
// private where nothing is in it but what belongs in such a folder. One that is
// shared stays as it is; what else it is, [Open] says.
func Make(path string) error {
	err := unix.Mkdir(path, private)
	if err == nil {
		return nil
	}
	if !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("%s: %w", path, err)
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	dir := os.NewFile(uintptr(fd), path)
	defer dir.Close()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || int(st.Uid) != unix.Geteuid() || !tightened(st.Mode&0o7777) {
		return nil
	}
	names, err := dir.Readdirnames(len(sockets) + 1)
	if err != nil && !errors.Is(err, io.EOF) || slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(sockets, n) }) {
		return nil
	}
	if err := unix.Fchmod(fd, private); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Close lets the folder go. Listeners and connections stay.
func (f *Folder) Close() error { return f.dir.Close() }

// maxSocketPath is the longest path of a socket: sun_path of unix(7) less its
// last NUL.
const maxSocketPath = 107

// aliveWait bounds the look whether something listens on a socket.
const aliveWait = time.Second

// Listen makes a socket in the folder and listens on it. One that nothing
// listens on any more is replaced. It is taken away when the listener is
// closed, unless it is another by then.
func (f *Folder) Listen(name string) (net.Listener, error) {
	at := filepath.Join(f.path, name)
	if err := f.clear(name); err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	bind := at
	if len(bind) > maxSocketPath {
		bind = f.within(name)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: bind, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, plain(err))
	}
	l.SetUnlinkOnClose(false)
	ino, err := f.own(name)
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return &listener{UnixListener: l, folder: f, name: name, ino: ino}, nil
}

// within is a path to a name in the folder that nothing can be put in the way
// of.
func (f *Folder) within(name string) string {
	return "/proc/self/fd/" + strconv.Itoa(int(f.dir.Fd())) + "/" + name
}

// clear makes room for a socket.
func (f *Folder) clear(name string) error {
	s, err := f.socket(name)
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil
	case err != nil:
		return err
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), aliveWait)
	defer cancel()
	c, err := s.dial(ctx)
	if err == nil {
		c.Close()
		return ErrServed
	}
	if !errors.Is(err, unix.ECONNREFUSED) && !errors.Is(err, unix.EACCES) {
		return fmt.Errorf("%w: %w", ErrServed, plain(err))
	}
	return unix.Unlinkat(int(f.dir.Fd()), name, 0)
}

// own gives a socket that was just made its mode and its group. It is found
// from the folder and held, so that nothing else is given them.
func (f *Folder) own(name string) (ino uint64, err error) {
	s, err := f.socket(name)
	if err != nil {
		return 0, fmt.Errorf("what was made there is gone: %w", err)
	}
	defer s.Close()
	if s.uid != unix.Geteuid() {
		return 0, fmt.Errorf("%w: user %d has put another there", ErrFolder, s.uid)
	}
	if f.mode == shared && s.gid != f.gid {
		if err := unix.Fchownat(int(s.file.Fd()), "", -1, f.gid, unix.AT_EMPTY_PATH); err != nil {
			return 0, err
		}
	}
	if err := unix.Chmod(s.path(), uint32(modeOf(f.mode))); err != nil {
		return 0, err
	}
	return s.ino, nil
}

// Dial connects to a socket in the folder: one that is owner's, and that owner
// listens on. With [Anyone] the folder is trusted.
func (f *Folder) Dial(ctx context.Context, name string, owner int) (net.Conn, error) {
	c, err := f.dial(ctx, name, owner)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(f.path, name), plain(err))
	}
	return c, nil
}

func (f *Folder) dial(ctx context.Context, name string, owner int) (net.Conn, error) {
	s, err := f.socket(name)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if owner != Anyone && s.uid != owner {
		return nil, fmt.Errorf("%w: the socket is user %d's, not user %d's", ErrFolder, s.uid, owner)
	}
	c, err := s.dial(ctx)
	if err != nil || owner == Anyone {
		return c, err
	}
	listens, err := PeerOf(c.(*net.UnixConn))
	if err == nil && listens != owner {
		err = fmt.Errorf("%w: user %d listens on the socket, not user %d", ErrFolder, listens, owner)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// PeerOf is the user at the other end of a connection: who connected or, of one
// that was dialled, who began to listen (SO_PEERCRED, unix(7)).
func PeerOf(c *net.UnixConn) (uid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	ctl := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err := errors.Join(ctl, err); err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}

// held is a socket of the folder, by a descriptor.
type held struct {
	file     *os.File
	uid, gid int
	ino      uint64
}

// socket holds the socket of that name. A link, and what is no socket, is an
// error.
func (f *Folder) socket(name string) (*held, error) {
	fd, err := unix.Openat(int(f.dir.Fd()), name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), name)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		file.Close()
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		file.Close()
		return nil, fmt.Errorf("%w: something is there that is no socket", ErrFolder)
	}
	return &held{file: file, uid: int(st.Uid), gid: int(st.Gid), ino: st.Ino}, nil
}

func (h *held) Close() { h.file.Close() }

func (h *held) path() string { return "/proc/self/fd/" + strconv.Itoa(int(h.file.Fd())) }

func (h *held) dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "unix", h.path())
}

// listener takes its socket away with it.
type listener struct {
	*net.UnixListener
	folder *Folder
	name   string
	ino    uint64
}

// Close ends the listening. What somebody has put in the socket's place stays.
func (l *listener) Close() error {
	err := l.UnixListener.Close()
	if err != nil {
		return err // closed already
	}
	if s, err := l.folder.socket(l.name); err == nil {
		if s.ino == l.ino {
			unix.Unlinkat(int(l.folder.dir.Fd()), l.name, 0)
		}
		s.Close()
	}
	return nil
}

// plain is the system's word alone, without the path that it was told.
func plain(err error) error {
	var no syscall.Errno
	switch {
	case errors.As(err, &no):
		return no
	case errors.Is(err, fs.ErrClosed):
		return fs.ErrClosed
	}
	return err
}
