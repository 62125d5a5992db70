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
		{"user/max_mnt_namespaces", "0\n", false, "user.max_mnt_namespaces=10000"},
		{"user/max_mnt_namespaces", "0\n", true, "chroot"},
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
		got := noNamespaces(read, func() bool { return c.chrooted }, 0)
		if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s = %q, chroot %v: %q, want %q", c.file, c.value, c.chrooted, got, c.want)
		}
	}
}

// Linux 5.12 lets nobody map root who may not set capabilities of files.
func TestRootWithoutSETFCAP(t *testing.T) {
	for _, c := range []struct {
		uid       int
		effective string
		want      bool
	}{{0, "0000000000000000", true}, {0, "000001ff7fffffff", true}, {0, "000001ffffffffff", false}, {0, "0000000080000000", false}, {1000, "0000000000000000", false}, {0, "?", false}} {
		read := func(file string) ([]byte, error) {
			if file == "/proc/self/status" {
				return []byte("Name:\tx\nCapEff:\t" + c.effective + "\nCapBnd:\t0\n"), nil
			}
			return nil, errors.New("not there")
		}
		if got := noNamespaces(read, func() bool { return false }, c.uid); strings.Contains(got, "SETFCAP") != c.want {
			t.Errorf("user %d with %s: %q", c.uid, c.effective, got)
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

func TestHindrance(t *testing.T) {
	const covered = "41 24 0:34 / /proc/acpi ro - tmpfs tmpfs ro\n"
	for _, c := range []struct{ table, status, want string }{
		{"", "\nSeccomp:\t2\n", "a setting"},
		{covered, "\nSeccomp:\t0\n", noProcHere},
		{covered, "\nSeccomp:\t2\n", noProcHere + ", and where namespaces are refused --security-opt seccomp=unconfined too"},
	} {
		read := func(file string) ([]byte, error) {
			return []byte(map[string]string{"/proc/self/mountinfo": c.table, "/proc/self/status": c.status}[file]), nil
		}
		if got := hindrance(read, func() string { return "a setting" }); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.table, c.status, got, c.want)
		}
	}
}
