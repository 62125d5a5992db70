package launch

import (
	"os"
	"strconv"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/procfs"
)

// NoNamespaces says what keeps this machine, or this process, from making user
// namespaces and what to do about it, as far as it is written down somewhere;
// "" when it is not.
func NoNamespaces() string { return noNamespaces(os.ReadFile, chrooted, os.Geteuid()) }

// Hindrance says what keeps sandboxes from being made here and what to do about
// it, as far as that can be told without a try; "" when it cannot.
func Hindrance() string { return hindrance(os.ReadFile, NoNamespaces) }

func hindrance(read func(string) ([]byte, error), noNamespaces func() string) string {
	switch {
	case procCovered(read) && filtered(read):
		return noProcHere + ", and where namespaces are refused " + noFilter + " too"
	case procCovered(read):
		return noProcHere
	}
	return noNamespaces()
}

// noFilter is what lets a container make namespaces whose engine's filter of
// calls refuses them.
const noFilter = "--security-opt seccomp=unconfined"

// filtered says whether calls of this process pass a filter (proc_pid_status(5)).
func filtered(read func(string) ([]byte, error)) bool {
	status, err := read("/proc/self/status")
	return err == nil && strings.Contains(string(status), "\nSeccomp:\t2\n")
}

const noProcHere = "parts of /proc are covered here, as container engines do, and then the kernel lets no sandbox have a /proc of its own: start the container with --security-opt systempaths=unconfined (podman: unmask=ALL)"

// procCovered says whether something is mounted over a part of /proc.
func procCovered(read func(string) ([]byte, error)) bool {
	table, err := read("/proc/self/mountinfo")
	return err == nil && coversProc(string(table))
}

// coversProc reads a table of mounts (proc_pid_mountinfo(5)). What systemd
// mounts there covers nothing.
func coversProc(mountinfo string) bool {
	for m := range procfs.Mounts(mountinfo) {
		if strings.HasPrefix(m.Point, "/proc/") && m.Point != "/proc/sys/fs/binfmt_misc" {
			return true
		}
	}
	return false
}

// noNamespaces reads the switches of user_namespaces(7), of Ubuntu's and of
// Debian's kernels.
func noNamespaces(read func(string) ([]byte, error), chrooted func() bool, uid int) string {
	is := func(file, value string) bool {
		b, err := read("/proc/sys/" + file)
		return err == nil && strings.TrimSpace(string(b)) == value
	}
	for _, kind := range []string{"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"} {
		if setting := "max_" + kind + "_namespaces"; is("user/"+setting, "0") && !chrooted() {
			return "namespaces of a kind that a sandbox has are switched off: sysctl user." + setting + "=10000"
		}
	}
	switch {
	case chrooted():
		return "this is a chroot, in which the kernel makes no user namespaces: start it outside of it, or in a container of its own (systemd-nspawn)"
	case is("kernel/unprivileged_userns_clone", "0"):
		return "user namespaces are switched off for users: sysctl kernel.unprivileged_userns_clone=1"
	case is("kernel/apparmor_restrict_unprivileged_userns", "1"):
		return "this system lets only programs with an AppArmor profile make user namespaces: give lnk-sandbox one with `userns,`"
	case uid == 0 && !setsFileCapabilities(read):
		return "root that lacks the capability SETFCAP, as in some containers, is given no user namespace with root in it: start it as another user, or the container with --cap-add SETFCAP"
	}
	return ""
}

// setsFileCapabilities says whether this process has CAP_SETFCAP, without which
// nobody maps root (user_namespaces(7), Linux 5.12); also where it is not known.
func setsFileCapabilities(read func(string) ([]byte, error)) bool {
	const capability = 31
	status, err := read("/proc/self/status")
	if err != nil {
		return true
	}
	_, rest, ok := strings.Cut(string(status), "\nCapEff:")
	line, _, _ := strings.Cut(rest, "\n")
	set, err := strconv.ParseUint(strings.TrimSpace(line), 16, 64)
	return !ok || err != nil || set&(1<<capability) != 0
}

// chrooted says whether our root is another folder than the first process's,
// or no mount of its own.
func chrooted() bool {
	mine, err := os.Stat("/")
	if err != nil {
		return false
	}
	if first, err := os.Stat("/proc/1/root"); err == nil {
		return !os.SameFile(mine, first)
	}
	table, err := os.ReadFile("/proc/self/mountinfo")
	return err == nil && !mountsRoot(string(table))
}

// mountsRoot reads a table of mounts (proc_pid_mountinfo(5)), which leaves out
// what is not below the reader's root.
func mountsRoot(mountinfo string) bool {
	for m := range procfs.Mounts(mountinfo) {
		if m.Point == "/" {
			return true
		}
	}
	return false
}
