package seccomp

// An answer is what the kernel says to a call that is closed. The numbers are
// those of <asm-generic/errno.h>, the same on both architectures.
type answer uint16

const (
	allow           answer = 0
	eperm           answer = 1  // the caller may not, and goes on without
	enosys          answer = 38 // there is no such call, and libraries use an older one
	eprotonosupport answer = 93
	esocktnosupport answer = 94
	eafnosupport    answer = 97
)

// A test looks at the low 32 bits of one argument.
type test struct {
	arg  int
	mask uint32 // applied first, when it is not 0
	kind kind
	vals []uint32
	says string // how people read it
}

type kind int

const (
	oneOf kind = iota // the argument is one of vals
	noneOf
	anyBit // the argument has a bit of vals[0]
)

// A clause answers a call when all its tests hold.
type clause struct {
	when   []test
	answer answer
}

// A rule closes a call, wholly when its one clause has no test. The first
// clause that holds answers; when none does the call is open.
type rule struct {
	calls   []string
	clauses []clause
	why     string
}

func closed(a answer, why string, calls ...string) rule {
	return rule{calls, []clause{{answer: a}}, why}
}

func when(why, call string, clauses ...clause) rule {
	return rule{[]string{call}, clauses, why}
}

// rules are what is closed under o. A call that an architecture does not have
// is not looked for there.
func rules(o Options) []rule {
	list := append(fixedRules(), traceRules(o.Trace)...)
	list = append(list, setIDRules()...)
	list = append(list, ownerRules(o)...)
	if o.NoMemfd {
		list = append(list, closed(eperm, "a file in memory can be executed", "memfd_create"))
	}
	if o.NoGroupSignal {
		// No number but 0 names a group that is led from outside.
		list = append(list, when("signals who started the sandbox", "kill", clause{[]test{is(0, "is the caller's group", 0)}, eperm}))
	}
	return list
}

func fixedRules() []rule {
	return []rule{
		// Namespaces and mounts: the wall is made of them.
		closed(eperm, "mounts are the wall's", "mount", "umount2", "pivot_root", "chroot"),
		closed(enosys, "mounts by descriptor are the wall's",
			"open_tree", "open_tree_attr", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr"),
		closed(enosys, "names what is mounted and which namespaces there are on the host", "statmount", "listmount", "listns"),
		closed(eperm, "joins a namespace", "setns"),
		closed(enosys, "its flags are in memory, where a filter cannot see them", "clone3"),
		when("makes a namespace", "clone", clause{[]test{bits(0, nsFlags, "has CLONE_NEW…")}, eperm}),
		when("makes a namespace", "unshare", clause{[]test{bits(0, nsFlags|cloneNewTime, "has CLONE_NEW…")}, eperm}),

		// Parts of the kernel that a program does not need, and where its
		// faults have been.
		closed(enosys, "reads, writes and connects past every filter", "io_uring_setup", "io_uring_enter", "io_uring_register"),
		closed(eperm, "code in the kernel", "bpf", "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load"),
		closed(eperm, "watches the machine", "perf_event_open", "syslog", "lookup_dcookie"),
		closed(eperm, "holds the kernel up in the middle of a copy", "userfaultfd"),
		closed(eperm, "keys are kept for a user, not for a sandbox", "add_key", "request_key", "keyctl"),
		closed(eperm, "watches files by their file system", "fanotify_init", "fanotify_mark"),
		closed(eperm, "opens files by number, past every folder", "open_by_handle_at", "name_to_handle_at"),
		closed(eperm, "moves the memory of other processes", "move_pages", "migrate_pages"),
		closed(eperm, "takes descriptors out of other processes", "pidfd_getfd"),
		closed(eperm, "compares what other processes hold in the kernel", "kcmp"),
		closed(eperm, "loads a library the way of 1992", "uselib"),

		// What is the machine's and not a program's.
		closed(eperm, "the machine's clock", "settimeofday", "clock_settime", "adjtimex", "clock_adjtime"),
		closed(eperm, "the machine's name", "sethostname", "setdomainname"),
		closed(eperm, "the machine's disks", "swapon", "swapoff", "quotactl", "quotactl_fd", "acct"),
		closed(eperm, "the machine itself", "reboot", "vhangup", "iopl", "ioperm"),
		closed(eperm, "segments of 16-bit programs, and faults of the kernel's entry", "modify_ldt"),

		when("types into a terminal, or changes what it is", "ioctl",
			clause{[]test{is(1, "is TIOCSTI, TIOCLINUX or TIOCSETD", tiocsti, tioclinux, tiocsetd)}, eperm}),
		when("copies all that a file system holds below a folder, what is closed in it too", "ioctl",
			clause{[]test{is(1, "makes a snapshot of btrfs or bcachefs", btrfsSnapshot, btrfsSnapshot2, bcachefsSubvolume)}, eperm}),
		when("who opens the file outside waits, for 45 s at a time", "fcntl",
			clause{[]test{is(1, "is F_SETLEASE or F_SETDELEG", setLease, setDeleg)}, eperm}),
		// On a terminal the caller's group is that of who started the sandbox, where
		// no number but 0 names it.
		when("slows processes outside down for good", "setpriority",
			clause{[]test{is(0, "is a process group", prioGroup), is(1, "is the caller's", 0)}, eperm}),
		when("slows processes outside down for good", "ioprio_set",
			clause{[]test{is(0, "is a process group", ioprioGroup), is(1, "is the caller's", 0)}, eperm}),
		when("kinds of sockets that a program does not need", "socket", socketClauses()...),
		when("kinds of sockets that a program does not need", "socketpair",
			clause{[]test{not(0, "is not UNIX", afUnix)}, eafnosupport}),
	}
}

// traceRules keep the sandbox's first process from being traced: it is
// bubblewrap's own, and stopped it would never say that the program ended.
// Debuggers, and the thread sanitizer, start programs at addresses that are not
// random.
func traceRules(trace bool) []rule {
	const (
		why     = "reads and changes other processes"
		weakens = "makes a program easier to attack"
	)
	if !trace {
		return []rule{
			closed(eperm, why, "ptrace", "process_vm_readv", "process_vm_writev"),
			when(weakens, "personality", clause{[]test{not(0, "is not LINUX nor a question", perLinux, perAsk)}, eperm}),
		}
	}
	first := func(arg int) clause { return clause{[]test{is(arg, "is the sandbox's first process", 1)}, eperm} }
	return []rule{
		when(why, "ptrace", first(1)),
		when(why, "process_vm_readv", first(0)),
		when(why, "process_vm_writev", first(0)),
		when(weakens, "personality", clause{[]test{not(0, "is not LINUX, ADDR_NO_RANDOMIZE nor a question",
			perLinux, perNoRandomize, perAsk)}, eperm}),
	}
}

// setIDRules keep files from being made that run as their owner or group: what
// root made inside would be root's outside, for whoever starts it there.
func setIDRules() []rule {
	const why = "a file that runs as its owner, for whoever starts it outside"
	mode := func(arg int) test { return bits(arg, setIDs, "has S_ISUID or S_ISGID") }
	var list []rule
	for _, c := range []struct {
		call string
		arg  int
	}{{"chmod", 1}, {"fchmod", 1}, {"fchmodat", 2}, {"fchmodat2", 2}, {"creat", 1}, {"mknod", 1}, {"mknodat", 2}} {
		list = append(list, when(why, c.call, clause{[]test{mode(c.arg)}, eperm}))
	}
	// Without one of the flags the mode is whatever the register holds.
	makes := func(arg int) test { return bits(arg, openCreates, "has O_CREAT or O_TMPFILE") }
	return append(list,
		when(why, "open", clause{[]test{makes(1), mode(2)}, eperm}),
		when(why, "openat", clause{[]test{makes(2), mode(3)}, eperm}),
		closed(enosys, "its mode is in memory, where a filter cannot see it", "openat2"),
	)
}

// ownerRules answer who gives a file to somebody else as outside. Other ids are
// not known in the sandbox's user namespace, and the kernel's word for that is
// EINVAL (chown_common in fs/open.c), which no program looks for: fakeroot goes
// on after EPERM alone.
func ownerRules(o Options) []rule {
	const (
		why  = "gives a file to an id that is not known inside"
		keep = 0xffffffff // the id stays as it is
	)
	var list []rule
	for _, c := range []struct {
		call string
		arg  int
	}{{"chown", 1}, {"fchown", 1}, {"lchown", 1}, {"fchownat", 2}} {
		list = append(list, when(why, c.call,
			clause{[]test{not(c.arg, "is not the program's", keep, o.UID)}, eperm},
			clause{[]test{not(c.arg+1, "is not the program's", keep, o.GID)}, eperm}))
	}
	return list
}

func socketClauses() []clause {
	inet := is(0, "is INET or INET6", afInet, afInet6)
	return []clause{
		{[]test{not(0, "is not UNIX, INET, INET6 or NETLINK", afUnix, afInet, afInet6, afNetlink)}, eafnosupport},
		{[]test{is(0, "is NETLINK", afNetlink),
			not(2, "is not ROUTE, SOCK_DIAG or KOBJECT_UEVENT", netlinkRoute, netlinkSockDiag, netlinkUevent)}, eprotonosupport},
		{[]test{inet, masked(1, sockTypeMask, "is RAW or PACKET", sockRaw, sockPacket)}, eperm},
		{[]test{inet, maskedNot(1, sockTypeMask, "is not STREAM or DGRAM", sockStream, sockDgram)}, esocktnosupport},
		{[]test{inet, not(2, "is not the usual one, ICMP, TCP, UDP or ICMPV6",
			protoAny, protoICMP, protoTCP, protoUDP, protoICMPv6)}, eprotonosupport},
	}
}

func is(arg int, says string, vals ...uint32) test {
	return test{arg: arg, kind: oneOf, vals: vals, says: says}
}

func not(arg int, says string, vals ...uint32) test {
	return test{arg: arg, kind: noneOf, vals: vals, says: says}
}

func masked(arg int, mask uint32, says string, vals ...uint32) test {
	return test{arg: arg, mask: mask, kind: oneOf, vals: vals, says: says}
}

func maskedNot(arg int, mask uint32, says string, vals ...uint32) test {
	return test{arg: arg, mask: mask, kind: noneOf, vals: vals, says: says}
}

func bits(arg int, mask uint32, says string) test {
	return test{arg: arg, kind: anyBit, vals: []uint32{mask}, says: says}
}

// Numbers of <linux/sched.h>, <linux/personality.h>, <asm-generic/ioctls.h>,
// <linux/socket.h>, <linux/net.h>, <linux/in.h> and <linux/netlink.h>; the same
// on both architectures.
const (
	nsFlags      = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000 // NEWNS CGROUP UTS IPC USER PID NET
	cloneNewTime = 0x00000080                                                                               // in clone these bits are the signal

	perLinux       = 0
	perAsk         = 0xffffffff
	perNoRandomize = 0x00040000

	setIDs      = 0o6000   // <linux/stat.h>
	openCreates = 0x400040 // O_CREAT and __O_TMPFILE, <asm-generic/fcntl.h>

	tiocsti   = 0x5412
	tioclinux = 0x541c
	tiocsetd  = 0x5423

	// BTRFS_IOC_SNAP_CREATE and its second version, <linux/btrfs.h>, and
	// BCH_IOCTL_SUBVOLUME_CREATE.
	btrfsSnapshot, btrfsSnapshot2, bcachefsSubvolume = 0x50009401, 0x50009417, 0x4020bc10

	setLease, setDeleg = 1024, 1040 // <linux/fcntl.h>; the second since 6.19

	prioGroup, ioprioGroup = 1, 2 // <linux/resource.h>, <linux/ioprio.h>

	afUnix, afInet, afInet6, afNetlink = 1, 2, 10, 16

	sockTypeMask                                 = 0xf // above it are SOCK_CLOEXEC and SOCK_NONBLOCK
	sockStream, sockDgram, sockRaw, sockPacket   = 1, 2, 3, 10
	protoAny, protoICMP, protoTCP, protoUDP      = 0, 1, 6, 17
	protoICMPv6                                  = 58
	netlinkRoute, netlinkSockDiag, netlinkUevent = 0, 4, 15
)
