package launch

import (
	"os"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/procfs"
)

// NoNamespaces says what keeps this machine, or this process, from making user
// namespaces and what to do about it, as far as it is written down somewhere;
// "" when it is not.
func NoNamespaces() string { return noNamespaces(os.ReadFile, chrooted) }

// noNamespaces reads the switches of user_namespaces(7), of Ubuntu's and of
// Debian's kernels.
func noNamespaces(read func(string) ([]byte, error), chrooted func() bool) string {
	is := func(file, value string) bool {
		b, err := read("/proc/sys/" + file)
		return err == nil && strings.TrimSpace(string(b)) == value
	}
	switch {
	case chrooted():
		return "this is a chroot, in which the kernel makes no user namespaces: start it outside of it, or in a container of its own (systemd-nspawn)"
	case is("user/max_user_namespaces", "0"):
		return "user namespaces are switched off: sysctl user.max_user_namespaces=10000"
	case is("kernel/unprivileged_userns_clone", "0"):
		return "user namespaces are switched off for users: sysctl kernel.unprivileged_userns_clone=1"
	case is("kernel/apparmor_restrict_unprivileged_userns", "1"):
		return "this system lets only programs with an AppArmor profile make user namespaces: give lnk-sandbox one with `userns,`"
	}
	return ""
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
