package main

import (
	"slices"
	"strings"
	"testing"
)

func TestBareOf(t *testing.T) {
	there := func(path string) bool { return path != "/run/lnk/lnk-sandbox" && path != "/etc/told" }
	got, err := bareOf([]string{
		"/usr/bin/bwrap", "--seccomp", "9", "--unshare-net", "--perms", "0555", "--tmpfs", "/",
		"--ro-bind-fd", "3", "/usr", "--bind-fd", "4", "/home/ann/p", "--ro-bind-fd", "5", "/run/lnk/lnk-sandbox",
		"--perms", "0444", "--ro-bind-data", "6", "/etc/told", "--sync-fd", "7", "--chdir", "/home/ann/p", "--", "true", "--seccomp", "9",
	}, "/b/lnk-sandbox", there)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields("/usr/bin/bwrap --unshare-net --perms 0555 --tmpfs / --ro-bind /usr /usr --bind /home/ann/p /home/ann/p" +
		" --ro-bind /b/lnk-sandbox /run/lnk/lnk-sandbox --ro-bind /b/lnk-sandbox /etc/told --chdir /home/ann/p -- true --seccomp 9")
	if !slices.Equal(got, want) {
		t.Errorf("bare\n%q\nwant\n%q", got, want)
	}
}

func TestBareOfFails(t *testing.T) {
	there := func(string) bool { return true }
	for name, rendered := range map[string][]string{
		"nothing":             nil,
		"no program":          {"bwrap", "--tmpfs", "/"},
		"an option cut short": {"bwrap", "--bind-fd", "3"},
	} {
		if got, err := bareOf(rendered, "/b/x", there); err == nil {
			t.Errorf("%s: made %q", name, got)
		}
	}
}
