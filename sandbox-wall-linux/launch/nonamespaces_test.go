package launch

import (
	"errors"
	"strings"
	"testing"
)

func TestNoNamespaces(t *testing.T) {
	for _, c := range []struct {
		file, value string
		chrooted    bool
		want        string
	}{
		{"user/max_user_namespaces", "0\n", false, "user.max_user_namespaces=10000"},
		{"user/max_user_namespaces", "96364\n", false, ""},
		{"kernel/unprivileged_userns_clone", "0\n", false, "kernel.unprivileged_userns_clone=1"},
		{"kernel/unprivileged_userns_clone", "1\n", false, ""},
		{"kernel/apparmor_restrict_unprivileged_userns", "1\n", false, "AppArmor"},
		{"kernel/apparmor_restrict_unprivileged_userns", "0\n", false, ""},
		{"kernel/apparmor_restrict_unprivileged_userns", "1\n", true, "chroot"},
	} {
		read := func(file string) ([]byte, error) {
			if file == "/proc/sys/"+c.file {
				return []byte(c.value), nil
			}
			return nil, errors.New("not there")
		}
		got := noNamespaces(read, func() bool { return c.chrooted })
		if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s = %q, chroot %v: %q, want %q", c.file, c.value, c.chrooted, got, c.want)
		}
	}
}

func TestMountsRoot(t *testing.T) {
	const root, proc = "22 1 254:0 / / rw - ext4 /dev/vda rw\n", "24 22 0:22 / /proc rw - proc proc rw\n"
	for table, want := range map[string]bool{root + proc: true, proc: false, "": false} {
		if got := mountsRoot(table); got != want {
			t.Errorf("%q: %v", table, got)
		}
	}
}
