package direct

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
)

// fs makes a file system, not mounted yet.
func (c *compiler) fs(to reg, kind string, attrs uint64, options ...[2]string) {
	c.do(tmp, unix.SYS_FSOPEN, c.text(kind), n(unix.FSOPEN_CLOEXEC))
	for _, o := range options {
		c.do(none, unix.SYS_FSCONFIG, tmp.arg(), n(unix.FSCONFIG_SET_STRING), c.text(o[0]), c.text(o[1]), n(0))
	}
	c.do(none, unix.SYS_FSCONFIG, tmp.arg(), n(unix.FSCONFIG_CMD_CREATE), n(0), n(0), n(0))
	c.do(to, unix.SYS_FSMOUNT, tmp.arg(), n(unix.FSMOUNT_CLOEXEC), n(attrs))
	c.close(tmp)
}

func tmpfsOptions(s linuxwall.Step) [][2]string {
	options := [][2]string{{"mode", fmt.Sprintf("%04o", s.Perm)}}
	if s.Size > 0 {
		// Empty files have no pages, and size bounds pages alone: an inode costs
		// about a KiB of the kernel's memory (tmpfs(5), nr_inodes).
		inodes := 2*s.Size/4096 + 1024
		options = append(options, [2]string{"size", strconv.FormatInt(s.Size, 10)}, [2]string{"nr_inodes", strconv.FormatInt(inodes, 10)})
	}
	return options
}

// attr sets and clears a mount's flags (mount_setattr(2)).
func (c *compiler) attr(mount reg, set, clear uint64, all bool) {
	flags := unix.AT_EMPTY_PATH
	if all {
		flags |= unix.AT_RECURSIVE
	}
	c.do(none, unix.SYS_MOUNT_SETATTR, mount.arg(), c.empty, n(flags), c.words(set, clear, 0, 0), n(attrSize))
}

// source opens a path of this machine into tmp, if it is what was looked at.
func (c *compiler) source(from string, dev, ino uint64) { c.sourceBy(c.path, from, dev, ino) }

func (c *compiler) sourceBy(how arg, from string, dev, ino uint64) {
	c.do(tmp, unix.SYS_OPENAT2, oldRoot.arg(), c.text(from), how, n(openHowLen))
	c.do(none, unix.SYS_FSTAT, tmp.arg(), c.stat)
	c.same(dev, ino)
}

// same fails unless the last fstat was of one file.
func (c *compiler) same(dev, ino uint64) {
	c.compare(sameWord, statDev, ^uint64(0), dev)
	c.compare(sameWord, statIno, ^uint64(0), ino)
}

// compare fails, as the kind has it, by what the last fstat said, where it is
// masked, and a number.
func (c *compiler) compare(kind callKind, offset uintptr, mask, is uint64) {
	at := c.stat
	at.v += offset
	s := call{kind: kind}
	s.args[0], s.args[1], s.args[2] = at, n(is), n(mask)
	c.add(s)
}

// inFolder opens the folder that a path of the sandbox's own file systems lies
// in, for what is done with its name. base is the file system's mount point:
// the way there can lead through folders of this machine.
func (c *compiler) inFolder(base, at string, do func(folder, name arg)) {
	if base == "/" {
		do(newRoot.arg(), c.text(strings.TrimPrefix(at, "/")))
		return
	}
	c.do(tmp, unix.SYS_OPENAT2, newRoot.arg(), c.text(path.Dir(at)), c.path, n(openHowLen))
	do(tmp.arg(), c.text(path.Base(at)))
	c.close(tmp)
}

// mount attaches a mount where a step says.
func (c *compiler) mount(p placed, mount reg, folder bool) {
	if p.own {
		c.inFolder(p.base, p.At, func(at, name arg) {
			if folder {
				c.doOK(unix.EEXIST, none, unix.SYS_MKDIRAT, at, name, n(0o755))
			} else {
				c.doOK(unix.EEXIST, none, unix.SYS_MKNODAT, at, name, n(unix.S_IFREG|0o444), n(0))
			}
		})
	}
	// A folder goes on a folder, and anything else on anything else.
	how := c.path
	switch {
	case folder:
		how = c.folder
	case p.Is.Kind == linuxwall.Link:
		how = c.link
	}
	c.do(tmp, unix.SYS_OPENAT2, newRoot.arg(), c.text(p.At), how, n(openHowLen))
	if !folder || p.onItself() {
		c.do(none, unix.SYS_FSTAT, tmp.arg(), c.stat)
	}
	if !folder {
		c.compare(otherWord, statMode, unix.S_IFMT, unix.S_IFDIR)
	}
	if p.onItself() {
		c.same(p.Is.Dev, p.Is.Ino)
	}
	c.do(none, unix.SYS_MOVE_MOUNT, mount.arg(), c.empty, tmp.arg(), c.empty, n(emptyMove))
	c.close(tmp)
}

// shut closes a folder. All that hold nothing are views of one.
func (c *compiler) shut(p placed) {
	if !p.shared {
		c.fs(tmp2, "tmpfs", nothingOf, tmpfsOptions(p.Step)...)
		c.mount(p, tmp2, true)
		c.close(tmp2)
		return
	}
	c.cover(p, &c.closedFolder, closed, true, func() {
		c.fs(closed, "tmpfs", nothingOf|unix.MOUNT_ATTR_RDONLY, [2]string{"mode", "0555"}, [2]string{"size", "4096"})
	})
}

// shutFile closes a file, or a socket, by a device on a mount without devices:
// opening it is EACCES, and it is no socket to connect to.
func (c *compiler) shutFile(p placed) {
	c.cover(p, &c.closedFile, closedFile, false, func() {
		c.do(closedFile, unix.SYS_OPEN_TREE, devNull.arg(), c.empty, n(cloneTree))
		c.attr(closedFile, nothingOf|unix.MOUNT_ATTR_RDONLY, 0, false)
	})
}

// cover mounts what one register holds, made once, over a place: after the
// first time a view of it, since only what is mounted can be viewed again.
func (c *compiler) cover(p placed, made *bool, what reg, folder bool, make func()) {
	if !*made {
		make()
		c.mount(p, what, folder)
		*made = true
		return
	}
	c.do(tmp2, unix.SYS_OPEN_TREE, what.arg(), c.empty, n(cloneTree))
	c.mount(p, tmp2, folder)
	c.close(tmp2)
}

// file makes a file that holds a text.
func (c *compiler) file(folder, name arg, text string, perm uint32) {
	c.do(tmp2, unix.SYS_OPENAT, folder, name, n(unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC), n(perm))
	if text != "" {
		c.want(len(text), unix.SYS_WRITE, tmp2.arg(), c.place([]byte(text)), n(len(text)))
	}
	c.close(tmp2)
}

// toldName is what a file has in the sandbox's root until it has none: nothing
// that a plan shows is called so.
const toldName = ".told-by-lnk-sandbox"

// tell puts a file of ours over one of this machine: it is made in the root, or
// where nothing can be made there below it, shown, and has no name any more.
func (c *compiler) tell(p placed) {
	in := newRoot
	if c.sb.Steps[0].Verb != linuxwall.Empty {
		in = texts
	}
	name := c.text(toldName)
	c.file(in.arg(), name, p.Text, p.Perm)
	c.do(tmp2, unix.SYS_OPEN_TREE, in.arg(), name, n(unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_SYMLINK_NOFOLLOW))
	c.attr(tmp2, nothingOf|unix.MOUNT_ATTR_RDONLY, 0, false)
	c.mount(p, tmp2, false)
	c.do(none, unix.SYS_UNLINKAT, in.arg(), name, n(0))
	c.close(tmp2)
}

// hideFirst covers the first process in /proc. It is in another user namespace
// and so cannot be looked into; what is public of it is not shown either.
func (c *compiler) hideFirst() {
	c.about("its first process, hidden")
	p := placed{}
	p.At = c.processes + "/1"
	c.cover(p, &c.closedFolder, closed, true, func() {
		c.fs(closed, "tmpfs", nothingOf|unix.MOUNT_ATTR_RDONLY, [2]string{"mode", "0555"}, [2]string{"size", "4096"})
	})
}

// deviceLinks are names that programs expect beside them.
var deviceLinks = [][2]string{
	{"fd", "/proc/self/fd"}, {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"},
	{"core", "/proc/kcore"}, {"ptmx", "pts/ptmx"},
}

// harmless are the devices that every sandbox has, each with its numbers (mem(4),
// null(4), random(4), tty(4)).
var harmless = map[string]string{"null": "1 3", "zero": "1 5", "full": "1 7", "random": "1 8", "urandom": "1 9", "tty": "5 0"}

// devices makes /dev: the harmless ones of this machine, and terminals of its
// own.
func (c *compiler) devices(p placed) {
	c.fs(tmp2, "tmpfs", noDevices|c.code(), [2]string{"mode", "0755"})
	c.mount(p, tmp2, true)
	for _, name := range slices.Sorted(maps.Keys(harmless)) {
		c.about("dev %s", name)
		c.device(tmp2, "/dev/"+name, name)
	}
	for _, l := range deviceLinks {
		c.do(none, unix.SYS_SYMLINKAT, c.text(l[1]), tmp2.arg(), c.text(l[0]))
	}
	c.about("dev pts")
	c.fs(tmp3, "devpts", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC, [2]string{"ptmxmode", "0666"}, [2]string{"mode", "0620"})
	c.do(none, unix.SYS_MKDIRAT, tmp2.arg(), c.text("pts"), n(0o755))
	c.do(none, unix.SYS_MOVE_MOUNT, tmp3.arg(), c.empty, tmp2.arg(), c.text("pts"), n(unix.MOVE_MOUNT_F_EMPTY_PATH))
	c.close(tmp3)
	if c.sb.Console != "" {
		c.about("dev console")
		c.device(tmp2, c.sb.Console, "console")
	}
	c.close(tmp2)
}

// device shows one of this machine's devices, read only: it can be written all the
// same, but its mode and owner, which are the machine's, cannot be changed by whom
// it belongs to.
func (c *compiler) device(dev reg, from, name string) {
	c.do(tmp, unix.SYS_OPENAT2, oldRoot.arg(), c.text(from), c.path, n(openHowLen))
	c.do(tmp3, unix.SYS_OPEN_TREE, tmp.arg(), c.empty, n(cloneTree))
	c.close(tmp)
	c.attr(tmp3, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC|unix.MOUNT_ATTR_RDONLY, 0, false)
	c.do(none, unix.SYS_MKNODAT, dev.arg(), c.text(name), n(unix.S_IFREG|0o444), n(0))
	c.do(none, unix.SYS_MOVE_MOUNT, tmp3.arg(), c.empty, dev.arg(), c.text(name), n(unix.MOVE_MOUNT_F_EMPTY_PATH))
	c.close(tmp3)
}

// enter makes the view the root, and drops this machine's (pivot_root(2)).
func (c *compiler) enter() {
	c.about("the root")
	dot := c.text(".")
	c.do(none, unix.SYS_FCHDIR, newRoot.arg())
	c.do(none, unix.SYS_PIVOT_ROOT, dot, dot)
	c.do(none, unix.SYS_FCHDIR, oldRoot.arg())
	c.do(none, unix.SYS_UMOUNT2, dot, n(unix.MNT_DETACH))
	c.do(none, unix.SYS_CHDIR, c.text("/"))
	c.close(oldRoot, devNull)
	if c.sb.Steps[0].Verb != linuxwall.Empty {
		c.close(texts)
	}
}

// rules makes the rule set that the program is given, and fills it where it lets
// only some files be executed.
func (c *compiler) rules() {
	if len(c.sb.Landlock) == 0 {
		return
	}
	c.about("landlock")
	c.do(ruleSet, unix.SYS_LANDLOCK_CREATE_RULESET, c.place(c.sb.Landlock), n(len(c.sb.Landlock)), n(0))
	if c.sb.Run == nil {
		return
	}
	c.rule("/", unix.LANDLOCK_ACCESS_FS_REFER) // see package landlock
	for _, p := range c.sb.Run {
		c.rule(p, unix.LANDLOCK_ACCESS_FS_EXECUTE)
	}
}

func (c *compiler) rule(at string, access uint64) {
	c.about("landlock %s", at)
	c.do(tmp, unix.SYS_OPENAT, here, c.text(at), n(unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC))
	// struct landlock_path_beneath_attr is packed: 8 bytes and 4.
	beneath := c.words(access, 0)
	set := call{kind: setWord}
	set.args[0], set.args[1] = arg{address, beneath.v + 8}, tmp.arg()
	c.add(set)
	c.do(none, unix.SYS_LANDLOCK_ADD_RULE, ruleSet.arg(), n(unix.LANDLOCK_RULE_PATH_BENEATH), beneath, n(0))
	c.close(tmp)
}
