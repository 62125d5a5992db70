package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Where a repository's own folder is opened, what git itself would be led by is
// told with what to do about it.
func TestToldOfAnOpenedRepository(t *testing.T) {
	s := newSandbox(t)
	s.git(s.project, "init", "-q")
	s.put("f", "x\n")
	s.git(s.project, "add", "f")
	s.git(s.project, "commit", "-qm", "one")
	opened := func(script string) string {
		e := s.run("--write="+s.project, "--write-dot-files="+s.project+"/.git", "--", "sh", "-c", script)
		if e.status != 0 {
			t.Errorf("%s: %d %s", script, e.status, e.errors)
		}
		return e.errors
	}
	// A submodule, whose repository the program made.
	said := opened(`git init -q "s b" && git -C "s b" config core.fsmonitor "touch owned" && git update-index --add --cacheinfo "160000,$(git rev-parse HEAD),s b" && git init -q other`)
	if want := s.project + "/s b/.git was made while the sandbox ran, and the index of " + s.project + " names it as a submodule: git status there would start git in it: look at it, or take it out first: git -C " + s.project + " update-index --force-remove -- 's b'\n"; !strings.Contains(said, want) {
		t.Errorf("%s\nwant %s", said, want)
	}
	if want := s.project + "/other/.git was made while the sandbox ran, and tools outside act on it"; !strings.Contains(said, want) {
		t.Errorf("%s\nwant %s", said, want)
	}
	s.git(s.project, "update-index", "--force-remove", "--", "s b") // does what it is said to
	s.git(s.project, "status")
	for _, dir := range []string{".", "s b"} {
		if _, err := os.Lstat(filepath.Join(s.project, dir, "owned")); err == nil {
			t.Error("git was started in what the program made")
		}
	}
	// A rebase, which executes what its list says.
	said = opened(`mkdir .git/rebase-merge && echo "exec touch owned" > .git/rebase-merge/git-rebase-todo`)
	if want := s.project + "/.git/rebase-merge/git-rebase-todo is of this run: git rebase --continue executes what it says"; !strings.Contains(said, want) {
		t.Errorf("%s\nwant %s", said, want)
	}
	if said = opened(`cat .git/rebase-merge/git-rebase-todo`); strings.Contains(said, "rebase") {
		t.Errorf("told again: %s", said)
	}
	if said = opened(`echo "exec touch more" >> .git/rebase-merge/git-rebase-todo`); !strings.Contains(said, "git-rebase-todo is of this run") {
		t.Errorf("not told of a change: %q", said)
	}
	// What stands there instead of an index is not waited for.
	opened(`rm .git/index; mkfifo .git/index; git init -q third`)
}
