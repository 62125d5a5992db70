package noexec

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// ErrChanged is that something at a place is not what was looked at.
var ErrChanged = errors.New("changed since it was looked at")

// Apply does what the orders say. The calling process is in a mount namespace
// of its own and may mount in it; when it fails, nothing may be started there.
func Apply(o Orders) error {
	// Root's namespace gets a copy of this machine's mounts that still tells
	// them what is mounted in it (mount_namespaces(7)).
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mounts of its own: %w", err)
	}
	// What is not code on this machine does not become it.
	before := make([]bool, len(o.Places))
	for i, p := range o.Places {
		var fs unix.Statfs_t
		before[i] = unix.Statfs(p.Path, &fs) == nil && fs.Flags&unix.ST_NOEXEC == 0
	}
	if o.NoExec {
		if err := noexecAll(); err != nil {
			return err
		}
	}
	for i, p := range o.Places {
		if err := p.apply(before[i]); err != nil {
			return fmt.Errorf("%s: %w", p.Path, err)
		}
	}
	for _, path := range o.ReadOnly {
		if err := readOnly(path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return o.store()
}

// readOnly mounts a device on itself, read only: it is written all the same, and
// its mode and owner are not changed.
func readOnly(path string) error {
	if err := unix.Mount(path, path, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil {
		return err
	}
	// Flags that it has are kept, which in a user namespace it has to (EPERM).
	keep := uintptr(fs.Flags) & (unix.ST_NOSUID | unix.ST_NODEV | unix.ST_NOEXEC | unix.ST_NOATIME | unix.ST_NODIRATIME)
	if fs.Flags&unix.ST_RELATIME != 0 {
		keep |= unix.MS_RELATIME
	}
	if err := unix.Mount("", path, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|keep, ""); err != nil {
		return fmt.Errorf("read only: %w", err)
	}
	return nil
}

func noexecAll() error {
	root, err := unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("/: %w", err)
	}
	defer unix.Close(root)
	// Since Linux 5.12; a kernel that has Landlock has it.
	all := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOEXEC}
	if err := unix.MountSetattr(root, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &all); err != nil {
		return fmt.Errorf("noexec: %w", err)
	}
	return nil
}

// clone opens a place, if it is what was looked at, and gives a copy of the
// mount that it is seen by, itself at the top. at is where it is seen.
func (p Place) clone() (clone, at int, folder bool, err error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	at, err = unix.Openat2(unix.AT_FDCWD, p.Path, &how)
	switch err {
	case nil:
	case unix.ENOENT, unix.ENOTDIR, unix.ELOOP:
		return -1, -1, false, ErrChanged
	default:
		return -1, -1, false, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(at, &st); err == nil && (st.Dev != p.Dev || st.Ino != p.Ino) {
		err = ErrChanged
	}
	if err == nil {
		clone, err = unix.OpenTree(at, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
	}
	if err != nil {
		unix.Close(at)
		return -1, -1, false, err
	}
	return clone, at, st.Mode&unix.S_IFMT == unix.S_IFDIR, nil
}

// apply mounts a place on itself, so that it has flags of its own.
func (p Place) apply(code bool) error {
	clone, at, _, err := p.clone()
	if err != nil {
		return err
	}
	defer unix.Close(clone)
	defer unix.Close(at)
	if p.Code && !code {
		return nil
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOEXEC}
	if p.Code {
		attr = unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_NOEXEC}
	}
	if err := unix.MountSetattr(clone, "", unix.AT_EMPTY_PATH, &attr); err != nil {
		return fmt.Errorf("mount_setattr: %w", err)
	}
	if err := unix.MoveMount(clone, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH); err != nil {
		return fmt.Errorf("move_mount: %w", err)
	}
	return nil
}

// store makes the sandbox's own file systems, where bubblewrap can bind them.
func (o Orders) store() error {
	if len(o.Empty)+len(o.Binds) == 0 {
		return nil
	}
	const flags = unix.MS_NOEXEC | unix.MS_NOSUID | unix.MS_NODEV
	if err := unix.Mount("tmpfs", o.Store, "tmpfs", flags, "mode=0700,size=1m"); err != nil {
		return fmt.Errorf("%s: %w", o.Store, err)
	}
	for i, e := range o.Empty {
		at := filepath.Join(o.Store, strconv.Itoa(i))
		if err := unix.Mkdir(at, 0o700); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		options := fmt.Sprintf("mode=%04o", e.Perm)
		if e.Size > 0 {
			options += ",size=" + strconv.FormatInt(e.Size, 10)
		}
		if err := unix.Mount("tmpfs", at, "tmpfs", flags, options); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
	}
	for i, p := range o.Binds {
		if err := p.bind(filepath.Join(o.Store, "b"+strconv.Itoa(i))); err != nil {
			return fmt.Errorf("%s: %w", p.Path, err)
		}
	}
	return nil
}

// bind shows a place at a path of the store.
func (p Place) bind(to string) error {
	clone, at, folder, err := p.clone()
	if err != nil {
		return err
	}
	defer unix.Close(clone)
	unix.Close(at)
	if folder {
		err = unix.Mkdir(to, 0o700)
	} else {
		err = unix.Mknod(to, unix.S_IFREG|0o600, 0)
	}
	if err == nil {
		err = unix.MoveMount(clone, "", unix.AT_FDCWD, to, unix.MOVE_MOUNT_F_EMPTY_PATH)
	}
	return err
}

// Read reads orders from a descriptor, from its start, and closes it.
func Read(fd int) (Orders, error) {
	defer unix.Close(fd)
	text := make([]byte, 0, 4096)
	for {
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		n, err := unix.Pread(fd, text[len(text):cap(text)], int64(len(text)))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return Orders{}, fmt.Errorf("orders: %w", err)
		}
		if n == 0 {
			return decode(text)
		}
		if text = text[:len(text)+n]; len(text) > maxBytes {
			return Orders{}, errMalformed
		}
	}
}

// Become gives up what let [Apply] mount, and executes argv with no
// environment. It returns only when it could not. The calling thread is held
// by the caller.
func Become(argv []string) error {
	// Without ambient capabilities a user's execve(2) leaves none.
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	err := unix.Exec(argv[0], argv, []string{})
	return fmt.Errorf("%s: %w", argv[0], err)
}
