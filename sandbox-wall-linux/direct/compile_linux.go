package direct

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
)

// Flags that occur often.
const (
	cloneTree  = unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_EMPTY_PATH
	cloneAll   = cloneTree | unix.AT_RECURSIVE
	emptyMove  = unix.MOVE_MOUNT_F_EMPTY_PATH | unix.MOVE_MOUNT_T_EMPTY_PATH
	noDevices  = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	nothingOf  = noDevices | unix.MOUNT_ATTR_NOEXEC
	attrSize   = 32 // struct mount_attr, MOUNT_ATTR_SIZE_VER0
	openHowLen = 24 // struct open_how, OPEN_HOW_SIZE_VER0
)

// stage is where the view is put together: over /proc, which is there, and
// which nothing is bound from.
const stage = "/proc"

// A compiler writes the scripts of a sandbox.
type compiler struct {
	*script
	sb    *Sandbox
	empty arg // ""
	// Each a struct open_how: O_PATH without links, below a root; link is for
	// what is one itself.
	path, folder, link arg
	stat               arg // struct stat
	// noExec is whether nothing that is made here may be executed.
	noExec bool
	// closedFolder and closedFile are whether the registers of that are filled.
	closedFolder, closedFile bool
	// processes is where /proc is.
	processes string
	// trees counts the folders that are shown as others see them.
	trees int
}

// newCompiler begins a script.
func newCompiler() compiler {
	c := compiler{script: &script{}}
	c.empty = c.text("")
	c.path = c.words(unix.O_PATH|unix.O_CLOEXEC, 0, unix.RESOLVE_NO_SYMLINKS|unix.RESOLVE_IN_ROOT)
	c.folder = c.words(unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0, unix.RESOLVE_NO_SYMLINKS|unix.RESOLVE_IN_ROOT)
	c.link = c.words(unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0, unix.RESOLVE_NO_SYMLINKS|unix.RESOLVE_IN_ROOT)
	c.stat = c.place(make([]byte, 256))
	return c
}

// compileEarly writes what the first process does before it is known what will
// be seen.
//
// Of what the caller has open it keeps its streams, and the descriptors of keep:
// a lock of the caller's, or a pipe's end, is not to be held by it.
func compileEarly(e *Early, uid, gid int, keep ...int) *script {
	c := newCompiler()
	c.about("its descriptors")
	from := len(e.Files)
	if len(e.Handed) > 0 {
		keep = append(keep, e.HandTo)
	}
	for _, fd := range slices.Sorted(slices.Values(append(keep, e.Files[:]...))) {
		if fd > from {
			c.do(none, unix.SYS_CLOSE_RANGE, n(from), n(fd-1), n(0))
		}
		from = max(from, fd+1)
	}
	c.do(none, unix.SYS_CLOSE_RANGE, n(from), n(uint32(math.MaxUint32)), n(0))
	c.namespaces(e, uid, gid)
	if len(e.Handed) > 0 {
		c.handOut(e.Handed, e.HandTo)
	}
	return c.script
}

// compile writes what it does then, until the program is let go.
func compile(sb *Sandbox) (*script, error) {
	steps, err := layout(sb.Steps)
	if err != nil {
		return nil, err
	}
	c := newCompiler()
	c.sb, c.noExec = sb, sb.NoExec != nil && sb.NoExec.NoExec
	c.noExecution()
	if err := c.root(steps[0]); err != nil {
		return nil, err
	}
	for _, p := range steps[1:] {
		if p.skip || p.Verb == linuxwall.Seal {
			continue
		}
		c.about("%s %s", p.Verb, p.At)
		if err := c.step(p); err != nil {
			return nil, err
		}
	}
	if c.processes == "" {
		return nil, fmt.Errorf("the plan has no /proc")
	}
	c.hideFirst()
	c.about("user namespaces")
	c.write(freeProc.arg(), "sys/user/max_user_namespaces", "1", 0)
	c.enter()
	for _, p := range steps[1:] {
		if p.Verb == linuxwall.Seal && !p.skip {
			c.about("seal %s", p.At)
			c.do(tmp, unix.SYS_OPENAT2, newRoot.arg(), c.text(p.At), c.path, n(openHowLen))
			c.attr(tmp, unix.MOUNT_ATTR_RDONLY, 0, false)
			c.close(tmp)
		}
	}
	c.rules()
	c.about("the folder to start in")
	// One that is not there is the caller's to say.
	c.anyway(unix.SYS_CHDIR, c.text(sb.Dir))
	return c.script, nil
}

// namespaces settles what the clone made: who it is in the user namespace, and
// that it ends with its parent.
func (c *compiler) namespaces(e *Early, uid, gid int) {
	c.about("the end of its parent")
	c.do(none, unix.SYS_PRCTL, n(unix.PR_SET_PDEATHSIG), n(unix.SIGKILL))
	c.about("a user namespace")
	// It maps itself, which anybody may who maps nobody else (user_namespaces(7)).
	self := func(name, text string, ok unix.Errno) { c.write(here, "/proc/self/"+name, text, ok) }
	self("setgroups", "deny", 0)
	self("gid_map", fmt.Sprintf("0 %d 1", gid), 0)
	self("uid_map", fmt.Sprintf("0 %d 1", uid), 0)
	if e.Session {
		c.about("a session")
		c.do(none, unix.SYS_SETSID)
	}
	c.about("modes of its own")
	c.do(oldUmask, unix.SYS_UMASK, n(0))
	c.about("a host name")
	c.do(none, unix.SYS_SETHOSTNAME, c.text(e.HostName), n(len(e.HostName)))
	if e.OwnNet && len(e.Handed) == 0 {
		c.loopback()
	}
	c.about("mounts of its own")
	c.do(none, unix.SYS_MOUNT, c.empty, c.text("/"), c.empty, n(unix.MS_REC|unix.MS_PRIVATE), n(0))
	c.do(oldRoot, unix.SYS_OPENAT, here, c.text("/"), n(unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC))
	// Before the old one is covered: a new /proc is let be made only while
	// one that hides nothing is in view (mount_too_revealing in fs/namespace.c).
	c.about("a /proc")
	c.fs(procFS, "proc", nothingOf)
	c.about("mount_setattr(2)") // the youngest of the calls
	c.attr(procFS, nothingOf, 0, false)
	c.about("the devices")
	c.do(devNull, unix.SYS_OPENAT2, oldRoot.arg(), c.text("/dev/null"), c.path, n(openHowLen))
}

// loopback sets the network's own interface up.
func (c *compiler) loopback() {
	c.about("a network of its own")
	var ifreq [40]byte
	copy(ifreq[:], "lo")
	*(*uint16)(unsafe.Pointer(&ifreq[unix.IFNAMSIZ])) = unix.IFF_UP | unix.IFF_RUNNING
	c.do(tmp, unix.SYS_SOCKET, n(unix.AF_INET), n(unix.SOCK_DGRAM|unix.SOCK_CLOEXEC), n(0))
	c.do(none, unix.SYS_IOCTL, tmp.arg(), n(unix.SIOCSIFFLAGS), c.place(ifreq[:]))
	c.close(tmp)
}

// noExecution makes all that the view will be made of unfit to be executed, and
// fit what is named.
func (c *compiler) noExecution() {
	o := c.sb.NoExec
	if o == nil || !o.NoExec {
		return
	}
	c.about("noexec")
	// What is not code on this machine does not become it.
	was := make([]bool, len(o.Places))
	for i, p := range o.Places {
		var fs unix.Statfs_t
		was[i] = unix.Statfs(p.Path, &fs) == nil && fs.Flags&unix.ST_NOEXEC == 0
	}
	c.attr(oldRoot, unix.MOUNT_ATTR_NOEXEC, 0, true)
	for i, p := range o.Places {
		c.about("noexec %s", p.Path)
		c.source(p.Path, p.Dev, p.Ino)
		if !p.Code || was[i] {
			set, clear := uint64(unix.MOUNT_ATTR_NOEXEC), uint64(0)
			if p.Code {
				set, clear = clear, set
			}
			c.do(tmp2, unix.SYS_OPEN_TREE, tmp.arg(), c.empty, n(cloneAll))
			c.attr(tmp2, set, clear, false)
			c.do(none, unix.SYS_MOVE_MOUNT, tmp2.arg(), c.empty, tmp.arg(), c.empty, n(emptyMove))
			c.close(tmp2)
		}
		c.close(tmp)
	}
}

// root makes the file system that the view is made in.
func (c *compiler) root(p placed) error {
	c.about("%s /", p.Verb)
	switch p.Verb {
	case linuxwall.Empty:
		c.fs(newRoot, "tmpfs", noDevices|c.code(), tmpfsOptions(p.Step)...)
	case linuxwall.Read:
		// Nothing can be made in it: what is made for it (tell) has a place of its
		// own below, which goes with this machine's root.
		c.fs(texts, "tmpfs", nothingOf, [2]string{"mode", "0700"})
		c.do(none, unix.SYS_MOVE_MOUNT, texts.arg(), c.empty, here, c.text(stage), n(unix.MOVE_MOUNT_F_EMPTY_PATH))
		c.source(p.From, p.Is.Dev, p.Is.Ino)
		c.do(newRoot, unix.SYS_OPEN_TREE, tmp.arg(), c.empty, n(cloneAll))
		c.close(tmp)
		c.attr(newRoot, noDevices|unix.MOUNT_ATTR_RDONLY, 0, true)
	default:
		return fmt.Errorf("%s /: want a root that is empty or read", p.Verb)
	}
	c.do(none, unix.SYS_MOVE_MOUNT, newRoot.arg(), c.empty, here, c.text(stage), n(unix.MOVE_MOUNT_F_EMPTY_PATH))
	return nil
}

// code is the flag of a file system that is made here.
func (c *compiler) code() uint64 {
	if c.noExec {
		return unix.MOUNT_ATTR_NOEXEC
	}
	return 0
}

// step makes one step of the view.
func (c *compiler) step(p placed) error {
	for _, dir := range p.make {
		c.inFolder(p.base, dir, func(at arg, name arg) {
			c.doOK(unix.EEXIST, none, unix.SYS_MKDIRAT, at, name, n(0o755))
		})
	}
	switch p.Verb {
	case linuxwall.MakeFolder:
		if !p.own {
			return fmt.Errorf("folder %s: not in a file system of the sandbox's own", p.At)
		}
		c.inFolder(p.base, p.At, func(at, name arg) {
			c.doOK(unix.EEXIST, none, unix.SYS_MKDIRAT, at, name, n(p.Perm))
			c.do(none, unix.SYS_FCHMODAT, at, name, n(p.Perm))
		})
	case linuxwall.MakeLink:
		if !p.own {
			return fmt.Errorf("link %s: not in a file system of the sandbox's own", p.At)
		}
		c.inFolder(p.base, p.At, func(at, name arg) {
			c.do(none, unix.SYS_SYMLINKAT, c.text(p.Text), at, name)
		})
	case linuxwall.WriteFile:
		if !p.own {
			return fmt.Errorf("file %s: not in a file system of the sandbox's own", p.At)
		}
		c.inFolder(p.base, p.At, func(at, name arg) { c.file(at, name, p.Text, p.Perm) })
	case linuxwall.Read, linuxwall.Write, linuxwall.Pin:
		if p.Others {
			c.asOthers(p)
			break
		}
		set := uint64(noDevices)
		if p.Verb == linuxwall.Read {
			set |= unix.MOUNT_ATTR_RDONLY
		}
		if p.Is.Kind == linuxwall.Link {
			c.sourceBy(c.link, p.From, p.Is.Dev, p.Is.Ino)
		} else {
			c.source(p.From, p.Is.Dev, p.Is.Ino)
		}
		c.do(tmp2, unix.SYS_OPEN_TREE, tmp.arg(), c.empty, n(cloneAll))
		c.close(tmp)
		c.attr(tmp2, set, 0, true)
		c.mount(p, tmp2, p.Is.Kind == linuxwall.Folder)
		c.close(tmp2)
	case linuxwall.Empty:
		c.fs(tmp2, "tmpfs", noDevices|c.code(), tmpfsOptions(p.Step)...)
		c.mount(p, tmp2, true)
		c.close(tmp2)
	case linuxwall.Close:
		c.shut(p)
	case linuxwall.CloseFile:
		c.shutFile(p)
	case linuxwall.Tell:
		c.tell(p)
	case linuxwall.Processes:
		c.processes = p.At
		c.mount(p, procFS, true)
		c.do(freeProc, unix.SYS_OPEN_TREE, procFS.arg(), c.empty, n(cloneTree))
	case linuxwall.Devices:
		c.devices(p)
	default:
		return fmt.Errorf("%s %s: not a step that is known", p.Verb, p.At)
	}
	return nil
}

// Where struct stat has what tells one file from another.
const (
	statMode = unsafe.Offsetof(unix.Stat_t{}.Mode)
	statDev  = unsafe.Offsetof(unix.Stat_t{}.Dev)
	statIno  = unsafe.Offsetof(unix.Stat_t{}.Ino)
)
