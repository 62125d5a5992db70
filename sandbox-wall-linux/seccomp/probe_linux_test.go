package seccomp

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The test binary plays the program: with the variable set it makes one system
// call after the other and says what the kernel answered.
const probeVar = "SECCOMP_TEST_PROBE"

func TestMain(m *testing.M) {
	switch os.Getenv(probeVar) {
	case "":
		os.Exit(m.Run())
	case "calls":
		// A locked thread, whatever namespaces it ends up in, is not what the
		// runtime makes its next thread from.
		runtime.LockOSThread()
		for _, p := range probes() {
			fmt.Printf("%s %d\n", p.name, p.try())
		}
		os.Exit(0)
	case "int80":
		fmt.Println("went on", int80())
		os.Exit(0)
	case "push":
		fmt.Println(push())
		os.Exit(0)
	}
	os.Exit(2)
}

// A probe is one system call that does no harm where it is open. The numbers
// are those of x/sys, not of our tables.
type probe struct {
	name string
	nr   uintptr
	args [6]uintptr
	// closed is what the filter answers; 0 where the call stays open.
	closed answer
	// door is whether the kernel, without the filter, would let it in or at
	// least look at it: its own answer is another one than the filter's.
	door bool
}

// cameWith are the releases of Linux that brought calls which older kernels in
// use lack: there is no door on those, and no answer to tell from the filter's.
var cameWith = map[uintptr]string{
	unix.SYS_MOUNT_SETATTR:  "5.12",
	unix.SYS_STATMOUNT:      "6.8",
	unix.SYS_LISTMOUNT:      "6.8",
	unix.SYS_OPEN_TREE_ATTR: "6.15",
}

// lacked says whether this kernel is older than a probe's call.
func (p probe) lacked(t *testing.T) bool {
	came, ok := cameWith[p.nr]
	return ok && release(t, kernelRelease(t)) < release(t, came)
}

func kernelRelease(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// release gives the first two numbers of a release as one that can be compared.
func release(t *testing.T, text string) int {
	t.Helper()
	var major, minor int
	if n, err := fmt.Sscanf(text, "%d.%d", &major, &minor); n != 2 {
		t.Fatalf("release %q: %v", text, err)
	}
	return major*1000 + minor
}

func (p probe) try() unix.Errno {
	// RawSyscall, so that a child that clone makes runs nothing but its end.
	r, _, errno := unix.RawSyscall6(p.nr, p.args[0], p.args[1], p.args[2], p.args[3], p.args[4], p.args[5])
	switch {
	case errno != 0:
	case p.nr == unix.SYS_CLONE && r == 0:
		unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	case p.nr == unix.SYS_CLONE:
		unix.Wait4(int(r), nil, 0, nil)
	case makesFile(p.nr):
		unix.Close(int(r))
	}
	return errno
}

func makesFile(nr uintptr) bool {
	switch nr {
	case unix.SYS_SOCKET, unix.SYS_MEMFD_CREATE, unix.SYS_IO_URING_SETUP, unix.SYS_USERFAULTFD, unix.SYS_PERF_EVENT_OPEN,
		unix.SYS_FANOTIFY_INIT, unix.SYS_FSOPEN, unix.SYS_OPEN_TREE, unix.SYS_BPF:
		return true
	}
	return false
}

const bad = ^uintptr(0) // no descriptor, no address

var (
	here   = cstring("/")
	tmpfs  = cstring("tmpfs")
	memory [4096]byte
)

func cstring(s string) uintptr {
	b := append([]byte(s), 0)
	kept = append(kept, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

var kept [][]byte // what the kernel is given addresses of

func buf() uintptr { return uintptr(unsafe.Pointer(&memory[0])) }

func probes() []probe {
	p := func(name string, nr uintptr, closed answer, door bool, args ...uintptr) probe {
		var a [6]uintptr
		copy(a[:], args)
		return probe{name, nr, a, closed, door}
	}
	const doorOpen, doorShut = true, false
	self := uintptr(os.Getpid())
	list := []probe{
		p("acct", unix.SYS_ACCT, eperm, doorShut, bad),
		p("add_key", unix.SYS_ADD_KEY, eperm, doorOpen, cstring("user"), cstring("lnk-probe"), buf(), 1, bad-2), // SPEC_SESSION_KEYRING
		p("adjtimex", unix.SYS_ADJTIMEX, eperm, doorOpen, bad),
		p("bpf", unix.SYS_BPF, eperm, doorOpen, 0x7f, buf(), 64),
		p("chroot", unix.SYS_CHROOT, eperm, doorOpen, here),
		p("clock_adjtime", unix.SYS_CLOCK_ADJTIME, eperm, doorOpen, 0, bad),
		p("clock_settime", unix.SYS_CLOCK_SETTIME, eperm, doorOpen, 0, bad),
		p("delete_module", unix.SYS_DELETE_MODULE, eperm, doorShut, bad, 0),
		p("fanotify_init", unix.SYS_FANOTIFY_INIT, eperm, doorOpen, 0x200, 0), // FAN_REPORT_FID: open to all since 5.13
		p("fanotify_mark", unix.SYS_FANOTIFY_MARK, eperm, doorOpen, bad, 1, 2, bad, bad),
		p("finit_module", unix.SYS_FINIT_MODULE, eperm, doorShut, bad, 0, 0),
		p("init_module", unix.SYS_INIT_MODULE, eperm, doorShut, bad, 0, 0),
		p("kcmp", unix.SYS_KCMP, eperm, doorOpen, self, self, 1, 0, 0),
		p("kexec_file_load", unix.SYS_KEXEC_FILE_LOAD, eperm, doorShut, bad, bad, 0, 0, 0),
		p("lookup_dcookie", unix.SYS_LOOKUP_DCOOKIE, eperm, doorShut, 0, bad, 0), // where it is there
		p("kexec_load", unix.SYS_KEXEC_LOAD, eperm, doorShut, 0, 99, bad, 0),
		p("keyctl", unix.SYS_KEYCTL, eperm, doorOpen, unix.KEYCTL_GET_KEYRING_ID, bad-2, 1),
		p("migrate_pages", unix.SYS_MIGRATE_PAGES, eperm, doorOpen, 0, 0, 0, 0),
		p("mount", unix.SYS_MOUNT, eperm, doorOpen, tmpfs, here, bad, 0, 0),
		p("move_pages", unix.SYS_MOVE_PAGES, eperm, doorOpen, 0, 0, 0, 0, 0, 0),
		p("name_to_handle_at", unix.SYS_NAME_TO_HANDLE_AT, eperm, doorOpen, bad, here, bad, bad, 0),
		p("open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, eperm, doorShut, bad, bad, 0),
		p("perf_event_open", unix.SYS_PERF_EVENT_OPEN, eperm, doorOpen, bad, 0, 0, 0, 0),
		p("pidfd_getfd", unix.SYS_PIDFD_GETFD, eperm, doorOpen, bad, 0, 0),
		p("pivot_root", unix.SYS_PIVOT_ROOT, eperm, doorOpen, bad, bad),
		p("quotactl", unix.SYS_QUOTACTL, eperm, doorOpen, 0x80000100, bad, 0, 0), // Q_SYNC
		p("quotactl_fd", unix.SYS_QUOTACTL_FD, eperm, doorOpen, bad, 0, 0, 0),
		p("reboot", unix.SYS_REBOOT, eperm, doorShut, 0, 0, 0, 0),
		p("request_key", unix.SYS_REQUEST_KEY, eperm, doorOpen, cstring("user"), cstring("lnk-none"), 0, 0),
		p("setdomainname", unix.SYS_SETDOMAINNAME, eperm, doorOpen, bad, 1),
		p("sethostname", unix.SYS_SETHOSTNAME, eperm, doorOpen, bad, 1),
		p("setns", unix.SYS_SETNS, eperm, doorOpen, bad, 0),
		p("settimeofday", unix.SYS_SETTIMEOFDAY, eperm, doorOpen, bad, 0),
		p("swapoff", unix.SYS_SWAPOFF, eperm, doorShut, bad),
		p("swapon", unix.SYS_SWAPON, eperm, doorShut, bad, 0),
		p("syslog", unix.SYS_SYSLOG, eperm, doorShut, 10, 0, 0), // the size of the log
		p("umount2", unix.SYS_UMOUNT2, eperm, doorOpen, cstring("/none"), 0),
		p("userfaultfd", unix.SYS_USERFAULTFD, eperm, doorOpen, 1), // UFFD_USER_MODE_ONLY: open to all
		p("vhangup", unix.SYS_VHANGUP, eperm, doorShut),

		p("clone3", unix.SYS_CLONE3, enosys, doorOpen, bad, 64),
		p("fsconfig", unix.SYS_FSCONFIG, enosys, doorOpen, bad, 0, 0, 0, 0),
		p("fsmount", unix.SYS_FSMOUNT, enosys, doorOpen, bad, 0, 0),
		p("fsopen", unix.SYS_FSOPEN, enosys, doorOpen, tmpfs, 1),
		p("fspick", unix.SYS_FSPICK, enosys, doorOpen, bad, here, 0),
		p("io_uring_enter", unix.SYS_IO_URING_ENTER, enosys, doorOpen, bad, 0, 0, 0, 0, 0),
		p("io_uring_register", unix.SYS_IO_URING_REGISTER, enosys, doorOpen, bad, 0, 0, 0),
		p("io_uring_setup", unix.SYS_IO_URING_SETUP, enosys, doorOpen, 1, buf()),
		p("listmount", unix.SYS_LISTMOUNT, enosys, doorOpen, bad, bad, 0, 0),
		p("listns", unix.SYS_LISTNS, enosys, doorShut, bad, bad, 0, 0),
		p("mount_setattr", unix.SYS_MOUNT_SETATTR, enosys, doorOpen, bad, here, 0, bad, 0),
		p("move_mount", unix.SYS_MOVE_MOUNT, enosys, doorOpen, bad, here, bad, here, 0),
		p("open_tree", unix.SYS_OPEN_TREE, enosys, doorOpen, bad, here, 0),
		p("open_tree_attr", unix.SYS_OPEN_TREE_ATTR, enosys, doorOpen, bad, here, 0, 0, 0),
		p("statmount", unix.SYS_STATMOUNT, enosys, doorOpen, bad, bad, 0, 0),
		p("openat2", unix.SYS_OPENAT2, enosys, doorOpen, bad, here, bad, 24),
		p("openat of a set-user-id file", unix.SYS_OPENAT, eperm, doorOpen, bad, bad, unix.O_CREAT, 0o4755),
		p("openat of a file", unix.SYS_OPENAT, allow, doorOpen, bad, bad, unix.O_CREAT, 0o755),
		p("fchmod to set-user-id", unix.SYS_FCHMOD, eperm, doorOpen, bad, 0o4755),
		p("fchmodat to set-group-id", unix.SYS_FCHMODAT, eperm, doorOpen, bad, bad, 0o2755),
		p("fchmodat2 to set-user-id", unix.SYS_FCHMODAT2, eperm, doorOpen, bad, bad, 0o4755, 0),
		p("fchown to another user", unix.SYS_FCHOWN, eperm, doorOpen, bad, 4, bad),
		p("fchown to another group", unix.SYS_FCHOWN, eperm, doorOpen, bad, bad, 4),
		p("fchownat to another user", unix.SYS_FCHOWNAT, eperm, doorOpen, bad, bad, 4, bad, 0),
		p("fchown to nobody else", unix.SYS_FCHOWN, allow, doorOpen, bad, bad, bad),
		p("mknodat of a set-user-id file", unix.SYS_MKNODAT, eperm, doorOpen, bad, bad, 0o104755, 0),
		p("a call to come", 472, enosys, doorShut),
		p("a call without a name", 400, enosys, doorShut),

		p("ptrace", unix.SYS_PTRACE, eperm, doorOpen, unix.PTRACE_PEEKDATA, 1, 0, 0),
		p("process_vm_readv", unix.SYS_PROCESS_VM_READV, eperm, doorOpen, 1, 0, 0, 0, 0, 0),
		p("process_vm_writev", unix.SYS_PROCESS_VM_WRITEV, eperm, doorOpen, 1, 0, 0, 0, 0, 0),
		p("personality", unix.SYS_PERSONALITY, eperm, doorOpen, 0x0100000), // MMAP_PAGE_ZERO

		p("ioctl TIOCSTI", unix.SYS_IOCTL, eperm, doorOpen, bad, unix.TIOCSTI, 0),
		p("ioctl TIOCSTI with high bits", unix.SYS_IOCTL, eperm, doorOpen, bad, unix.TIOCSTI|1<<32, 0),
		p("ioctl TIOCLINUX", unix.SYS_IOCTL, eperm, doorOpen, bad, 0x541c, 0),
		p("ioctl TIOCSETD", unix.SYS_IOCTL, eperm, doorOpen, bad, unix.TIOCSETD, 0),
		p("ioctl TIOCGWINSZ", unix.SYS_IOCTL, allow, doorOpen, bad, unix.TIOCGWINSZ, 0),

		p("ioctl BTRFS_IOC_SNAP_CREATE", unix.SYS_IOCTL, eperm, doorOpen, bad, 0x50009401, 0),
		p("ioctl BTRFS_IOC_SNAP_CREATE_V2", unix.SYS_IOCTL, eperm, doorOpen, bad, 0x50009417, 0),
		p("ioctl BCH_IOCTL_SUBVOLUME_CREATE", unix.SYS_IOCTL, eperm, doorOpen, bad, 0x4020bc10, 0),
		p("fcntl F_SETLEASE", unix.SYS_FCNTL, eperm, doorOpen, bad, unix.F_SETLEASE, unix.F_WRLCK),
		p("fcntl F_SETDELEG", unix.SYS_FCNTL, eperm, doorOpen, bad, 1040, 0),
		p("fcntl F_GETLEASE", unix.SYS_FCNTL, allow, doorOpen, bad, unix.F_GETLEASE),
		p("setpriority of the group", unix.SYS_SETPRIORITY, eperm, doorShut, unix.PRIO_PGRP, 0, 19),
		p("setpriority of a group", unix.SYS_SETPRIORITY, allow, doorOpen, unix.PRIO_PGRP, 1<<30, 19),
		p("ioprio_set of the group", unix.SYS_IOPRIO_SET, eperm, doorShut, 2, 0, 3<<13),
		p("ioprio_set of itself", unix.SYS_IOPRIO_SET, allow, doorOpen, 1, 0, 0xffff),

		p("socket UNIX", unix.SYS_SOCKET, allow, doorOpen, unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC),
		p("socket INET", unix.SYS_SOCKET, allow, doorOpen, unix.AF_INET, unix.SOCK_STREAM),
		p("socket INET6", unix.SYS_SOCKET, allow, doorOpen, unix.AF_INET6, unix.SOCK_DGRAM, unix.IPPROTO_UDP),
		p("socket NETLINK ROUTE", unix.SYS_SOCKET, allow, doorOpen, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE),
		p("socket NETLINK NETFILTER", unix.SYS_SOCKET, eprotonosupport, doorOpen, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER),
		p("socket NETLINK GENERIC", unix.SYS_SOCKET, eprotonosupport, doorOpen, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_GENERIC),
		p("socket INET RAW", unix.SYS_SOCKET, eperm, doorOpen, unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP),
		p("socket INET SEQPACKET", unix.SYS_SOCKET, esocktnosupport, doorShut, unix.AF_INET, unix.SOCK_SEQPACKET),
		p("socket INET UDP-Lite", unix.SYS_SOCKET, eprotonosupport, doorShut, unix.AF_INET, unix.SOCK_DGRAM, 136),
		p("socket PACKET", unix.SYS_SOCKET, eafnosupport, doorOpen, unix.AF_PACKET, unix.SOCK_RAW),
		p("socket VSOCK", unix.SYS_SOCKET, eafnosupport, doorOpen, unix.AF_VSOCK, unix.SOCK_STREAM),
		p("socket ALG", unix.SYS_SOCKET, eafnosupport, doorShut, unix.AF_ALG, unix.SOCK_SEQPACKET),
		p("socketpair UNIX", unix.SYS_SOCKETPAIR, allow, doorOpen, unix.AF_UNIX, unix.SOCK_STREAM, 0, buf()),
		p("socketpair INET", unix.SYS_SOCKETPAIR, eafnosupport, doorOpen, unix.AF_INET, unix.SOCK_STREAM, 0, buf()),
	}
	list = append(list,
		p("unshare NEWTIME", unix.SYS_UNSHARE, eperm, doorOpen, unix.CLONE_NEWTIME),
		p("unshare FS", unix.SYS_UNSHARE, allow, doorOpen, unix.CLONE_FS),
		p("clone", unix.SYS_CLONE, allow, doorOpen, uintptr(unix.SIGCHLD)),
		p("memfd_create", unix.SYS_MEMFD_CREATE, allow, doorOpen, tmpfs, 0),
	)
	list = append(list, probesOfArch()...)
	// Last, since where they succeed the process is somewhere else, and where
	// its children would be first in a pid namespace it can have but one.
	flags := []struct {
		name string
		flag uintptr
	}{
		{"USER", unix.CLONE_NEWUSER}, {"NS", unix.CLONE_NEWNS}, {"NET", unix.CLONE_NEWNET}, {"IPC", unix.CLONE_NEWIPC},
		{"UTS", unix.CLONE_NEWUTS}, {"CGROUP", unix.CLONE_NEWCGROUP}, {"PID", unix.CLONE_NEWPID},
	}
	for _, f := range flags {
		list = append(list, p("clone NEW"+f.name, unix.SYS_CLONE, eperm, doorOpen, f.flag|uintptr(unix.SIGCHLD)))
	}
	for _, f := range flags {
		list = append(list, p("unshare NEW"+f.name, unix.SYS_UNSHARE, eperm, doorOpen, f.flag))
	}
	return list
}

// push makes a terminal, takes it as its own, and types into it as a program
// inside would type into its user's shell.
func push() string {
	runtime.LockOSThread()
	master, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err.Error()
	}
	var unlock, n int32
	unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCSPTLCK, uintptr(unsafe.Pointer(&unlock)))
	unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTN, uintptr(unsafe.Pointer(&n)))
	unix.Setsid()
	slave, err := unix.Open(fmt.Sprintf("/dev/pts/%d", n), unix.O_RDWR, 0)
	if err != nil {
		return err.Error()
	}
	if t, err := unix.IoctlGetTermios(slave, unix.TCGETS); err == nil {
		t.Lflag &^= unix.ICANON
		unix.IoctlSetTermios(slave, unix.TCSETS, t)
	}
	var got []string
	for _, command := range []uintptr{unix.TIOCSTI, unix.TIOCSTI | 1<<32} {
		c := byte('x')
		_, _, errno := syscall.Syscall(unix.SYS_IOCTL, uintptr(slave), command, uintptr(unsafe.Pointer(&c)))
		if errno != 0 {
			got = append(got, errno.Error())
			continue
		}
		var in [1]byte
		unix.Read(slave, in[:])
		got = append(got, "typed "+string(in[:]))
	}
	return strings.Join(got, "; ")
}
