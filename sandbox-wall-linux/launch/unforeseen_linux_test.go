package launch

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestCoversProc(t *testing.T) {
	const proc = "24 30 0:22 / /proc rw,nosuid - proc proc rw\n"
	for more, want := range map[string]bool{
		"": false,
		"40 24 0:33 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw\n": false,
		"41 24 0:34 / /proc/acpi ro - tmpfs tmpfs ro\n":                    true,
		"42 30 0:35 / /process ro - tmpfs tmpfs ro\n":                      false,
	} {
		if got := coversProc(proc + more); got != want {
			t.Errorf("%q: %v", more, got)
		}
	}
}

func TestExplained(t *testing.T) {
	if got := explained(unix.ENOENT); got != unix.ENOENT {
		t.Errorf("%v", got)
	}
	if got := explained(unix.EACCES); strings.Contains(got.Error(), "another user") != (unix.Geteuid() == 0) {
		t.Errorf("%v", got)
	}
}
