package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A SIGHUP that is ignored is so for the program, whatever stands between.
func TestNohup(t *testing.T) {
	for _, net := range [][]string{nil, {allow}} {
		s := newSandbox(t)
		argv := append([]string{"sh", "-c", `trap '' HUP; exec "$@"`, "sh", lnk(), "sandbox", "run", "--yes", "--write=."}, net...)
		e := s.command("", append(argv, "--", "grep", "SigIgn", "/proc/self/status"))
		if e.status != 0 || e.out != "SigIgn:\t0000000000000001\n" {
			t.Errorf("%q: status %d: %s%s", net, e.status, e.out, e.errors)
		}
	}
}

// What a start takes over from who calls it and cannot work with is named, with
// what to do, and nothing is left.
func TestCallersLimits(t *testing.T) {
	for _, c := range []struct{ shell, want string }{
		{"umask 0777", "the umask takes your own rights away from everything that is made, the sandbox's files among it: set another (umask 022)"},
		{"ulimit -f 0", "file too large: raise the limit on the size of files (ulimit -f)"},
	} {
		for _, flag := range []string{"", "--bubblewrap", allow} {
			s := newSandbox(t)
			argv := []string{"sh", "-c", c.shell + `; exec "$@"`, "sh", lnk(), "sandbox", "run", "--yes", "--write=."}
			if flag != "" {
				argv = append(argv, flag)
			}
			e := s.command("", append(argv, "--", "true"))
			switch {
			case os.Getuid() == 0 && c.shell == "umask 0777":
				if e.status != 0 {
					t.Errorf("%s %s: status %d: %s", c.shell, flag, e.status, e.errors)
				}
			case e.status != 125 || !strings.Contains(e.errors, c.want) || flag != allow && strings.Count(e.errors, "\n") != 1: // there the log has a line more
				t.Errorf("%s %s: status %d: %s", c.shell, flag, e.status, e.errors)
			}
			if left, err := filepath.Glob(s.project + "/.*"); err != nil || len(left) > 0 {
				t.Errorf("%s %s: left %q, %v", c.shell, flag, left, err)
			}
		}
	}
}

// All of this machine can be opened to read, and what the sandbox has of its own
// stands over it.
func TestReadAll(t *testing.T) {
	s := newSandbox(t)
	s.put("hidden/x", "x")
	for _, flags := range [][]string{nil, {allow}, {"--bubblewrap"}} {
		out := s.must(append(append([]string{"--read=/", "--write=.", "--hide=" + s.project + "/hidden"}, flags...), "--",
			"sh", "-c", "cat /etc/resolv.conf; ls -d /usr/bin/env; ls hidden; echo x >f; echo x >/usr/f || echo no; ls -A "+s.home+"/.lnk; ls -A / | grep -c told; true")...)
		if !strings.HasPrefix(out, "nameserver 127.0.0.1\n") || !strings.HasSuffix(out, "\n/usr/bin/env\nno\n0\n") {
			t.Errorf("%q: %s", flags, out)
		}
	}
}
