package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// replace puts a new file in the place of one of the project's, as an editor
// does that saves.
func (s *sandbox) replace(name, text string) {
	s.t.Helper()
	s.put(name+"~", text)
	if err := os.Rename(filepath.Join(s.project, name+"~"), filepath.Join(s.project, name)); err != nil {
		s.t.Fatal(err)
	}
}

// A protected file that is replaced from outside loses its cover, and one that
// is renamed leaves its name open, so the run is ended, and says why. What is merely
// changed, or moved with a folder above it, keeps it.
func TestReplacedFromOutside(t *testing.T) {
	for _, net := range [][]string{nil, {allow}} {
		for _, c := range []struct {
			name string
			do   func(s *sandbox)
			ends string // what of, or empty: it goes on
		}{
			{".envrc saved by an editor", func(s *sandbox) { s.replace(".envrc", "new") }, ".envrc"},
			{"an old .envrc renamed", func(s *sandbox) {
				os.Rename(filepath.Join(s.project, ".envrc"), filepath.Join(s.project, "old"))
				s.put(".envrc", "new")
			}, ".envrc"},
			{"what may not be read renamed", func(s *sandbox) { os.Rename(filepath.Join(s.project, ".vscode"), filepath.Join(s.project, "old")) }, ".vscode"},
			{"a placeholder renamed", func(s *sandbox) { os.Rename(filepath.Join(s.project, ".idea"), filepath.Join(s.project, "old")) }, ".idea"},
			{"a placeholder renamed later", func(s *sandbox) {
				time.Sleep(500 * time.Millisecond) // when renames are waited for
				os.Rename(filepath.Join(s.project, ".idea"), filepath.Join(s.project, "old"))
			}, ".idea"},
			{"a placeholder removed", func(s *sandbox) { os.Remove(filepath.Join(s.project, ".idea")) }, ".idea"},
			{"the file of a worktree", func(s *sandbox) { s.replace("tree/.git", "gitdir: /x") }, "tree/.git"},
			{"git at work outside", func(s *sandbox) {
				s.git(s.project, "config", "a.b", "c")
				s.git(s.project, "commit", "-q", "--allow-empty", "-m", "x")
				s.git(s.project, "worktree", "add", "-q", "more")
			}, ""},
			{"a folder above renamed", func(s *sandbox) {
				os.Rename(filepath.Join(s.project, "a/sub"), filepath.Join(s.project, "a/bus"))
				os.Rename(filepath.Join(s.project, "a"), filepath.Join(s.project, "b"))
			}, ""},
			{".envrc changed in place", func(s *sandbox) { s.put(".envrc", "changed") }, ""},
			{"what is not protected", func(s *sandbox) { s.replace("Makefile", "all:") }, ""},
		} {
			if net != nil && (c.ends == "" || strings.Contains(c.name, "renamed")) {
				continue // the wall is the same one
			}
			s := newSandbox(t)
			s.put(".envrc", "old")
			s.put("Makefile", "all:")
			s.put(".vscode", "")
			if err := os.Chmod(filepath.Join(s.project, ".vscode"), 0); err != nil {
				t.Fatal(err)
			}
			s.git(s.project, "init", "-q")
			s.git(s.project, "commit", "-q", "--allow-empty", "-m", "first")
			s.git(s.project, "worktree", "add", "-q", "tree")
			s.git(s.project, "init", "-q", "a/sub")
			argv := append(append([]string{lnk(), "sandbox", "run", "--yes", "--write=" + s.project}, net...), "--",
				"sh", "-c", "mkdir .husky; echo x >.husky/x; echo up; trap '' TERM; while [ ! -e go ]; do sleep 0.02; done; for f in a/sub b/bus; do ! echo x >$f/.git/config; done 2>/dev/null; exit 9")
			cmd, errs := s.start(argv...)
			c.do(s)
			want := 9
			if c.ends == "" {
				s.put("go", "")
			} else {
				want = 137
			}
			status := waitFor(t, cmd)
			said := strings.Contains(errs.String(), "/"+c.ends+" was replaced, renamed or removed from outside")
			if !strings.Contains(errs.String(), "/.husky was made while the sandbox ran") {
				t.Errorf("%q %s: what was made is not told: %s", net, c.name, errs.String())
			}
			if status != want || said != (c.ends != "") {
				t.Errorf("%q %s: status %d, want %d: %s", net, c.name, status, want, errs.String())
			}
		}
	}
}
