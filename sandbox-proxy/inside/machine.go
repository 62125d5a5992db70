package inside

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// machine is what this machine says about making namespaces. A setting that
// is not there is empty.
type machine struct {
	maxUserNamespaces string // user.max_user_namespaces
	maxNetNamespaces  string // user.max_net_namespaces
	unprivilegedClone string // kernel.unprivileged_userns_clone, Debian's
	appArmorRestricts string // kernel.apparmor_restrict_unprivileged_userns, Ubuntu's
	root              bool
}

// readMachine reads it, given what reads a small file.
func readMachine(read func(string) ([]byte, error), uid int) machine {
	setting := func(path string) string {
		b, err := read("/proc/sys/" + path)
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(b))
	}
	return machine{
		maxUserNamespaces: setting("user/max_user_namespaces"),
		maxNetNamespaces:  setting("user/max_net_namespaces"),
		unprivilegedClone: setting("kernel/unprivileged_userns_clone"),
		appArmorRestricts: setting("kernel/apparmor_restrict_unprivileged_userns"),
		root:              uid == 0,
	}
}

// explainStart says why a process could not be started in new namespaces, and
// what to do. clone(2) gives ENOSPC past a limit of namespaces (EUSERS before
// Linux 4.9), EPERM when a policy or a chroot forbids them, EINVAL or ENOSYS
// when the kernel has none. With AppArmor's restriction the namespace is made
// but gives no capability, so that what needs one fails with EPERM or EACCES.
func explainStart(err error, m machine) error {
	var no syscall.Errno
	if !errors.As(err, &no) {
		return failed(StepStart, "", err)
	}
	forbidden := func(why, hint string) error {
		return &StepError{Step: StepStart, Err: fmt.Errorf("%w: %s (%w)", ErrForbidden, why, no), Hint: hint}
	}
	switch no {
	case syscall.ENOSPC, syscall.EUSERS:
		for name, value := range map[string]string{"user.max_user_namespaces": m.maxUserNamespaces, "user.max_net_namespaces": m.maxNetNamespaces} {
			if value == "0" {
				return forbidden(name+" is 0", "an administrator can set it, as in sysctl "+name+"=10000")
			}
		}
		return forbidden("the limit of namespaces is reached, or they are nested too deep",
			"end other sandboxes, or raise user.max_user_namespaces and user.max_net_namespaces")
	case syscall.EPERM, syscall.EACCES:
		switch {
		case m.unprivilegedClone == "0" && !m.root:
			return forbidden("kernel.unprivileged_userns_clone is 0", "an administrator can set it, as in sysctl kernel.unprivileged_userns_clone=1")
		case m.appArmorRestricts == "1" && !m.root:
			return forbidden(appArmor, appArmorHint)
		case no == syscall.EPERM:
			return forbidden("a policy, such as a container's seccomp filter or a chroot, does not allow them",
				"run outside it, or allow user namespaces in it (a container: --security-opt seccomp=unconfined)")
		}
	case syscall.EINVAL, syscall.ENOSYS:
		return forbidden("this kernel has none, or its policy hides them", "it needs CONFIG_USER_NS and CONFIG_NET_NS")
	}
	return failed(StepStart, "", err)
}

const (
	appArmor     = "AppArmor gives them no capability (kernel.apparmor_restrict_unprivileged_userns is 1)"
	appArmorHint = "lnk sandbox ready adds a profile that allows them to lnk-sandbox alone"
)

// explainInside adds the reason to a failure inside that this machine explains.
func explainInside(e *StepError, m machine) *StepError {
	if !errors.Is(e.Err, syscall.EPERM) || m.appArmorRestricts != "1" || m.root || e.Hint != "" {
		return e
	}
	return &StepError{Step: e.Step, What: e.What, Err: fmt.Errorf("%w: %s: %w", ErrForbidden, appArmor, e.Err), Hint: appArmorHint}
}
