package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A bubblewrap of 2022 (Ubuntu 22.04's 0.6.1) has none of --bind-fd, --size and
// --disable-userns: what they do is done otherwise, and the wall is the same.
func TestOldBubblewrap(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: to put another bubblewrap in its place")
	}
	s := newSandbox(t)
	if err := os.Chmod(s.root, 0o755); err != nil {
		t.Fatal(err)
	}
	real, old := filepath.Join(s.root, "real"), filepath.Join(s.root, "old")
	program, err := os.ReadFile("/usr/bin/bwrap")
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/bash\nR=" + real + `
case $1 in
--help) exec "$R" --help | grep -v -e '--bind-fd' -e '--ro-bind-fd' -e 'disable[d-]*-userns' -e 'userns-disabled' -e '--size';;
--version) echo bubblewrap 0.6.1;;
*) if tr '\0' '\n' </proc/self/fd/"$2" | grep -q -e '^--bind-fd$' -e '^--ro-bind-fd$' -e '^--disable-userns$' -e '^--size$'; then echo "Unknown option" >&2; exit 1; fi
   exec "$R" "$@";;
esac
`
	for path, text := range map[string]string{real: string(program), old: script} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	secret := filepath.Join(s.root, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.put("seen", "seen")
	inside := "cat seen; echo made > made; cat " + secret + "; unshare -Ur true; head -c 3000000 /dev/zero > /tmp/z; wc -c < /tmp/z; mkdir .git || echo kept"
	e := s.command("", []string{"unshare", "--mount", "sh", "-c",
		"mount --bind " + old + " /usr/bin/bwrap && exec " + lnk() + " sandbox run --yes --bubblewrap --write . --tmp 1M -- sh -c \"$0\"", inside})
	if e.status != 0 || !strings.HasPrefix(e.out, "seen1048576\n") || !strings.HasSuffix(e.out, "kept\n") || strings.Contains(e.out, "secret") {
		t.Errorf("status %d: %q: %s", e.status, e.out, e.errors)
	}
	if text, err := os.ReadFile(filepath.Join(s.project, "made")); err != nil || string(text) != "made\n" {
		t.Errorf("%q: %v", text, err)
	}
}

// A machine, or a container, that lets nobody make a user namespace is refused
// in one line, with and without the proxy.
func TestNoUserNamespaces(t *testing.T) {
	s := newSandbox(t)
	if out, err := exec.Command("unshare", "-Ur", "true").CombinedOutput(); err != nil {
		t.Fatalf("this machine has none: %v: %s", err, out)
	}
	for _, net := range []string{"", allow} {
		e := s.command("", []string{"unshare", "-Ur", "sh", "-c",
			"echo 0 > /proc/sys/user/max_user_namespaces && exec " + lnk() + " sandbox run --yes --write . " + net + " -- touch started"})
		if e.status != 125 || strings.Count(e.errors, "\n") != 1 || !strings.HasPrefix(e.errors, "lnk sandbox run: ") || !strings.Contains(e.errors, "namespace") {
			t.Errorf("%q: status %d: %s", net, e.status, e.errors)
		}
	}
	if _, err := os.Stat(filepath.Join(s.project, "started")); err == nil {
		t.Error("the program was started")
	}
}
