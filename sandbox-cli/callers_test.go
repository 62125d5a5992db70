package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// lone is a command line that sh runs as the first of a pid namespace of its
// own, as a container's program is: there is no process 2 that lasts.
func lone(script string, argv ...string) []string {
	return append([]string{"unshare", "--user", "--map-current-user", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script, "sh"}, argv...)
}

// Who starts a sandbox may be a container's first process, or a service that
// has no home.
func TestCallers(t *testing.T) {
	s := newSandbox(t)
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, grants := range [][]string{nil, {allow}, {"--only=" + sh}} {
		run := append(append([]string{lnk(), "sandbox", "run", "--yes", "--write=" + s.project}, grants...), "--", "sh", "-c", "echo here; exit 7")
		for name, argv := range map[string][]string{
			"as a container's first process":  lone(`exec "$@"`, run...),
			"by a container's first process":  lone(`"$@"; exit $?`, run...),
			"by a process that ends early on": lone(`true & true & "$@"; exit $?`, run...),
			"without a home":                  append([]string{"env", "-u", "HOME", "LNK_HOME=" + s.home + "/.lnk"}, run...),
			"with an empty home":              append([]string{"env", "HOME=", "LNK_HOME=" + s.home + "/.lnk"}, run...),
		} {
			if grants != nil && strings.Contains(name, "home") {
				continue
			}
			if e := s.command("", argv); e.status != 7 || e.out != "here\n" || e.errors != "" {
				t.Errorf("%s, %q: status %d: %q %s", name, grants, e.status, e.out, e.errors)
			}
		}
	}
}

// A folder that is mounted read only is not said to be written.
func TestWriteOnReadOnlyMount(t *testing.T) {
	s := newSandbox(t)
	script := `mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 99; shift; "$@"; exit $?`
	mounted := []string{"unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", s.project, lnk(), "sandbox", "run", "--yes"}
	e := s.command("", append(slices.Clone(mounted), "--write="+s.project, "--", "true"))
	if e.status != 125 || !strings.Contains(e.errors, s.project+": is mounted read only") || !strings.Contains(e.errors, "read") {
		t.Errorf("status %d: %s", e.status, e.errors)
	}
	e = s.command("", append(slices.Clone(mounted), "--read="+s.project, "--", "ls", s.project))
	if e.status != 0 {
		t.Errorf("read: status %d: %s", e.status, e.errors)
	}
}

// A machine without a null device is told so: nobody's streams can be it.
func TestNoNullDevice(t *testing.T) {
	s := newSandbox(t)
	for what, want := range map[string]string{
		"true":                                 "/dev/null: no such file or directory",
		"echo data >/dev/null":                 "/dev/null: is not the null device",
		"echo >/dev/null; chmod 0 /dev/null":   "/dev/null: ",
		"ln -s /dev/nowhere /dev/null || exit": "/dev/null: no such file or directory",
	} {
		e := s.command("", []string{"unshare", "--user", "--map-root-user", "--mount", "sh", "-c", `mount -t tmpfs none /dev && ` + what + `; exec "$@"`, "sh",
			lnk(), "sandbox", "run", "--yes", "--write=" + s.project, "--", "true"})
		if e.status != 125 || !strings.Contains(e.errors, want) || !strings.Contains(e.errors, "mknod -m 666 /dev/null c 1 3\n") || strings.Count(e.errors, "\n") != 1 {
			t.Errorf("%s: status %d: %q", what, e.status, e.errors)
		}
	}
}

// Nor is it one that lacks another device which every sandbox has.
func TestMissingDevice(t *testing.T) {
	s := newSandbox(t)
	const script = `mount --rbind /dev "$1" && mount -t tmpfs none /dev || exit 99
		for name in null zero random urandom tty; do : >/dev/$name; mount --bind "$1/$name" /dev/$name || exit 99; done
		shift; exec "$@"`
	e := s.command("", []string{"unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", t.TempDir(),
		lnk(), "sandbox", "run", "--yes", "--write=" + s.project, "--", "true"})
	if e.status != 125 || !strings.HasSuffix(e.errors, "/dev/full: no such file or directory: this makes it: mknod -m 666 /dev/full c 1 7\n") || strings.Count(e.errors, "\n") != 1 {
		t.Errorf("status %d: %q", e.status, e.errors)
	}
}

// A program that starts in another folder than its caller is in, or a caller
// that is nowhere, is told of.
func TestElsewhere(t *testing.T) {
	s := newSandbox(t)
	elsewhere, gone := filepath.Join(s.root, "elsewhere"), filepath.Join(s.root, "gone")
	for _, dir := range []string{elsewhere, gone} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	e := s.command("", []string{"sh", "-c", `cd "$1" && shift && exec "$@"`, "sh", elsewhere, lnk(), "sandbox", "run", "--yes", "--write=" + s.project, "--", "pwd"})
	if e.out != s.project+"\n" || !strings.Contains(e.errors, elsewhere+" is not in view") || strings.Count(e.errors, "\n") != 1 {
		t.Errorf("out %q: %s", e.out, e.errors)
	}
	e = s.command("", []string{"sh", "-c", `cd "$1" && rmdir "$1" && shift && exec "$@"`, "sh", gone, lnk(), "sandbox", "run", "--yes", "--", "pwd"})
	if e.status != 125 || !strings.Contains(e.errors, "the current folder is not there anymore") {
		t.Errorf("status %d: %s", e.status, e.errors)
	}
	if os.Getuid() == 0 {
		return // who may be anywhere
	}
	shut := filepath.Join(s.root, "shut")
	if err := os.Mkdir(shut, 0o700); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(shut, 0o700)
	e = s.command("", []string{"sh", "-c", `cd "$1" && chmod 0 "$1" && shift && exec "$@"`, "sh", shut, lnk(), "sandbox", "run", "--yes", "--", "pwd"})
	if e.status != 125 || !strings.Contains(e.errors, "the current folder is not yours to be in: ") || strings.Contains(e.errors, "anymore") {
		t.Errorf("status %d: %s", e.status, e.errors)
	}
}

// Root works in a folder in which another user keeps something to himself.
func TestRootBesideOthers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	s := newSandbox(t)
	s.put("his/repo/.git/config", "")
	his := filepath.Join(s.project, "his")
	if err := os.Chown(his, 1, 1); err != nil {
		t.Skipf("needs more than one user: %v", err)
	}
	if err := os.Chmod(his, 0o700); err != nil {
		t.Fatal(err)
	}
	s.must("--write="+s.project, "--", "true")
	e := s.run("--write="+his+"/repo", "--", "true")
	if e.status == 0 {
		return // where mounts are made by descriptor
	}
	lines := strings.Split(strings.TrimSpace(e.errors), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, his) || !strings.Contains(last, "another user") {
		t.Errorf("status %d: %s", e.status, e.errors)
	}
	if slices.Contains(lines, "") {
		t.Errorf("%q", e.errors)
	}
}

// In a sandbox none is made, and that is what is said, by every chain.
func TestNested(t *testing.T) {
	s := newSandbox(t)
	bin := filepath.Dir(lnk())
	for _, net := range [][]string{nil, {allow}} {
		grants := append([]string{"--write=" + s.project, "--read=" + bin}, net...)
		inner := append(append([]string{"--", lnk(), "sandbox", "run", "--yes", "--write=" + s.project}, net...), "--", "true")
		e := s.run(append(grants, inner...)...)
		if e.status != 125 || strings.Count(e.errors, "\n") != 1 || !strings.Contains(e.errors, "inside a sandbox already") {
			t.Errorf("%q: status %d: %s", net, e.status, e.errors)
		}
	}
}

// A file that is the standard input stands, afterwards, where the program left
// it: a loop over its lines goes round for each.
func TestInputIsLeft(t *testing.T) {
	s := newSandbox(t)
	if err := os.WriteFile(filepath.Join(s.root, "lines"), []byte("1\n2\n3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	big := filepath.Join(s.root, "big")
	if err := os.WriteFile(big, []byte(strings.Repeat("x", 1<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, net := range []string{"", allow} {
		run := lnk() + " sandbox run --yes --write=" + s.project + " " + net + " -- "
		for script, want := range map[string]string{
			"while read -r x; do " + run + "true; echo $x; done < ../lines":                                                            "1\n2\n3\n",
			"(" + run + "sh -c 'read x; echo in $x'; read x; echo out $x) < ../lines":                                                  "in 1\nout 2\n",
			"(read x; " + run + "cat; cat) < ../lines":                                                                                 "2\n3\n",
			"(" + run + "no-such-program 2>/dev/null; cat | wc -c) < ../big":                                                           "1048576\n",
			"(" + run + "sh -c 'dd bs=100000 count=3 iflag=fullblock 2>/dev/null | wc -c; exec <&-; sleep 0.1'; cat | wc -c) < ../big": "300000\n748576\n",
		} {
			if e := s.command("", []string{"sh", "-c", script}); e.out != want {
				t.Errorf("%s: %q, want %q: %s", script, e.out, want, e.errors)
			}
		}
	}
}

// Whoever removes the settings while a program runs takes nothing from its
// status, and leaves nothing of ours in the project.
func TestSettingsRemovedMeanwhile(t *testing.T) {
	for _, net := range [][]string{nil, {allow}} {
		s := newSandbox(t)
		before := listing(t, s.project)
		cmd, errs := s.start(append(append([]string{lnk(), "sandbox", "run", "--yes", "--write=" + s.project}, net...), "--", "sh", "-c", "echo up; while [ ! -e go ]; do sleep 0.02; done; rm go; exit 9")...)
		if err := os.RemoveAll(filepath.Join(s.home, ".lnk")); err != nil {
			t.Fatal(err)
		}
		s.put("go", "")
		if status := waitFor(t, cmd); status != 9 || strings.Contains(errs.String(), "settings") {
			t.Errorf("%q: status %d: %s", net, status, errs.String())
		}
		eventually(t, func() error {
			if after := listing(t, s.project); after != before {
				return fmt.Errorf("%q: left %s", net, after)
			}
			return nil
		})
	}
}
