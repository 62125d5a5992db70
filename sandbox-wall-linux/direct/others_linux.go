package direct

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
)

// System is this machine, with what can be shown of it by the kernel's own calls,
// or was given.
func System(given Given) *linuxwall.System {
	s := linuxwall.LocalSystem()
	s.Others = func(folder string) bool {
		tree, err := given.tree(folder)
		if err != nil {
			return false
		}
		unix.Close(tree)
		return true
	}
	return s
}

// tree gives a folder as others see it.
func (g Given) tree(folder string) (int, error) {
	fd, made := g[folder]
	if !made {
		return asOthersSee(folder)
	}
	var is, there unix.Stat_t
	if err := errors.Join(unix.Fstat(fd, &is), unix.Lstat(folder, &there)); err != nil {
		return 0, err
	}
	// As others see it, it is nobody's; who does not see its owner either cannot tell.
	owned := is.Uid == there.Uid && there.Uid != overflowID
	if is.Dev != there.Dev || is.Ino != there.Ino || owned {
		return 0, unix.ESTALE
	}
	return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
}

// AsOthersSee makes a folder as others see it, for who makes a sandbox in a user
// namespace and so may not; see [Given].
func AsOthersSee(folder string) (*os.File, error) {
	tree, err := asOthersSee(folder)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(tree), folder), nil
}

// overflowID is what the kernel gives for an id that is not mapped
// (user_namespaces(7)); a machine may have set another.
const overflowID = 65534

// maxTrees is how many folders a sandbox can be shown as others see them.
const maxTrees = 2

// asOthersSee gives a folder with all that is mounted in it, not mounted yet, read
// only and on which nobody owns anything (mount_setattr(2), MOUNT_ATTR_IDMAP): of
// a file's mode what is for others holds for everybody, root of any user
// namespace included. A file is as it is meanwhile, and no name is hidden.
//
// It takes root of this machine, and a kind of file system that can: ext4, XFS
// and btrfs (Linux 5.15) do, tmpfs since 6.3, an overlay does not.
func asOthersSee(folder string) (int, error) {
	nobody, err := nobodysNamespace()
	if err != nil {
		return 0, err
	}
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	at, err := unix.Openat2(unix.AT_FDCWD, folder, &how)
	if err != nil {
		return 0, err
	}
	defer unix.Close(at)
	tree, err := unix.OpenTree(at, "", cloneAll)
	if err != nil {
		return 0, err
	}
	// Private, so that what is mounted there later does not come along.
	attr := unix.MountAttr{
		Attr_set: noDevices | unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_IDMAP, Propagation: unix.MS_PRIVATE, Userns_fd: uint64(nobody),
	}
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
		unix.Close(tree)
		return 0, err
	}
	return tree, nil
}

// nobodyID is the one id that is mapped, since one must be, to another: the two
// greatest that there are. It is not that of nobody and nogroup, in whose group
// root may be, or whom an access control list (acl(5)) may name.
const nobodyID = "4294967294 4294967293 1"

// nobodysNamespace is a user namespace in which nobody else is: to a mount that
// goes by it no other file belongs to anybody. It is made once, by a process that
// lives for as long as that takes.
var nobodysNamespace = sync.OnceValues(func() (namespace int, err error) {
	// The process ends with the thread that made it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r, w, stack, err := newWaiting()
	if err != nil {
		return 0, err
	}
	defer r.close()
	s := &script{}
	s.about("nothing, for ever")
	s.anyway(unix.SYS_PPOLL, n(0), n(0), n(0), n(0), n(0))
	idle, err := s.link(r, 0)
	if err != nil {
		return 0, err
	}
	w.hold, w.after, w.maker = ^uintptr(0), idle.calls, uintptr(os.Getpid())
	pid, err := w.start(stack, unix.CLONE_NEWUSER)
	if err != nil {
		return 0, err
	}
	defer func() {
		_ = unix.Kill(pid, unix.SIGKILL) // not reaped yet
		for {
			if _, err := syscall.Wait4(pid, nil, 0, nil); err != syscall.EINTR {
				break
			}
		}
	}()
	of := fmt.Sprintf("/proc/%d/", pid)
	for _, table := range []string{"uid_map", "gid_map"} {
		if err := writeOnce(of+table, nobodyID); err != nil {
			return 0, err
		}
	}
	return unix.Open(of+"ns/user", unix.O_RDONLY|unix.O_CLOEXEC, 0)
})

// writeOnce writes a file of proc(5), which takes what it is given at once.
func writeOnce(name, text string) error {
	fd, err := unix.Open(name, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, err = unix.Write(fd, []byte(text))
	return err
}

// trees gives those that a sandbox is shown so, in the order of its steps.
func trees(sb *Sandbox) ([]int, error) {
	var found []int
	for _, s := range sb.Steps {
		if !s.Others {
			continue
		}
		tree, err := 0, error(unix.E2BIG)
		if len(found) < maxTrees {
			tree, err = sb.Given.tree(s.From)
		}
		if err != nil {
			closeAll(found)
			return nil, fmt.Errorf("%s, as others see it: %w", s.From, err)
		}
		found = append(found, tree)
	}
	return found, nil
}

func closeAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}

// asOthers mounts a folder that is shown so: it came with the order to begin.
func (c *compiler) asOthers(p placed) {
	tree := firstTree + reg(c.trees)
	c.trees++
	c.do(none, unix.SYS_FSTAT, tree.arg(), c.stat)
	c.same(p.Is.Dev, p.Is.Ino)
	if c.noExec {
		c.attr(tree, unix.MOUNT_ATTR_NOEXEC, 0, true)
	}
	c.mount(p, tree, true)
	c.close(tree)
}
