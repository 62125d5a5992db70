package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
