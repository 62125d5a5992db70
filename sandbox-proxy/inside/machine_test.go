package inside

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestReadMachine(t *testing.T) {
	files := map[string]string{
		"/proc/sys/user/max_user_namespaces": "7\n", "/proc/sys/user/max_net_namespaces": "8\n",
		"/proc/sys/kernel/unprivileged_userns_clone": "0\n", "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n",
	}
	read := func(path string) ([]byte, error) {
		if s, ok := files[path]; ok {
			return []byte(s), nil
		}
		return nil, os.ErrNotExist
	}
	if got, want := readMachine(read, 1000), (machine{"7", "8", "0", "1", false}); got != want {
		t.Errorf("got %+v", got)
	}
	clear(files)
	if got, want := readMachine(read, 0), (machine{root: true}); got != want {
		t.Errorf("got %+v", got)
	}
}

func TestExplainStart(t *testing.T) {
	ok := machine{maxUserNamespaces: "96364", maxNetNamespaces: "96364"}
	with := func(change func(*machine)) machine { m := ok; change(&m); return m }
	for _, c := range []struct {
		no        syscall.Errno
		m         machine
		forbidden bool
		says      string
	}{
		{syscall.ENOSPC, with(func(m *machine) { m.maxUserNamespaces = "0" }), true, "sysctl user.max_user_namespaces=10000"},
		{syscall.ENOSPC, with(func(m *machine) { m.maxNetNamespaces = "0" }), true, "sysctl user.max_net_namespaces=10000"},
		{syscall.EUSERS, with(func(m *machine) { m.maxUserNamespaces = "0" }), true, "user.max_user_namespaces is 0"},
		{syscall.ENOSPC, ok, true, "end other sandboxes"},
		{syscall.EPERM, with(func(m *machine) { m.unprivilegedClone = "0" }), true, "sysctl kernel.unprivileged_userns_clone=1"},
		{syscall.EPERM, with(func(m *machine) { m.unprivilegedClone = "0"; m.root = true }), true, "container's seccomp filter"},
		{syscall.EPERM, with(func(m *machine) { m.appArmorRestricts = "1" }), true, "lnk sandbox ready"},
		{syscall.EACCES, with(func(m *machine) { m.appArmorRestricts = "1" }), true, "AppArmor"},
		{syscall.EPERM, ok, true, "container's seccomp filter"},
		{syscall.EINVAL, ok, true, "CONFIG_USER_NS"},
		{syscall.ENOSYS, ok, true, "CONFIG_NET_NS"},
		{syscall.EACCES, ok, false, "permission denied"},
		{syscall.ENOENT, ok, false, "no such file"},
		{syscall.EAGAIN, ok, false, "resource temporarily unavailable"},
	} {
		err := explainStart(&os.PathError{Op: "fork/exec", Path: "/x", Err: c.no}, c.m)
		var step *StepError
		if !errors.As(err, &step) || step.Step != StepStart || !errors.Is(err, c.no) ||
			errors.Is(err, ErrForbidden) != c.forbidden || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, %+v: %v", c.no, c.m, err)
		}
	}
	if err := explainStart(errors.New("so"), ok); err.Error() != "network inside: start: so" {
		t.Errorf("got %v", err)
	}
}

func TestExplainInside(t *testing.T) {
	refused := &StepError{Step: StepLinks, What: "bring loopback up", Err: fmt.Errorf("so: %w", syscall.EPERM)}
	got := explainInside(refused, machine{appArmorRestricts: "1"})
	if !errors.Is(got, ErrForbidden) || !errors.Is(got, syscall.EPERM) || got.Step != StepLinks || got.What != refused.What || got.Hint == "" {
		t.Errorf("got %v", got)
	}
	for what, c := range map[string]struct {
		e *StepError
		m machine
	}{
		"no AppArmor": {refused, machine{}}, "root": {refused, machine{appArmorRestricts: "1", root: true}},
		"another error": {&StepError{Step: StepRules, Err: syscall.ENOBUFS}, machine{appArmorRestricts: "1"}},
		"explained":     {&StepError{Step: StepRules, Err: syscall.EPERM, Hint: "so"}, machine{appArmorRestricts: "1"}},
	} {
		if got := explainInside(c.e, c.m); got != c.e {
			t.Errorf("%s: %v", what, got)
		}
	}
}
