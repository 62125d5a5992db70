package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A pipe in the place of a dot file is not written: a mount that is read only
// would let it be, and who reads it outside executes that.
func TestPipesOfDotFiles(t *testing.T) {
	s := newSandbox(t)
	s.git(s.project, "init", "-q")
	s.git(s.project, "init", "-q", "below")
	names := []string{".envrc", ".idea", "below/.envrc", ".git/config.worktree"}
	for _, name := range names {
		if err := unix.Mkfifo(filepath.Join(s.project, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, maker := range []string{"--terminal=false", "--bubblewrap"} {
		for _, opened := range []string{"--write=.", "--write-dot-files=" + s.project + "/.git"} {
			var tries []string
			for _, name := range names {
				if opened == "--write=." && strings.HasPrefix(name, ".git/") {
					continue // its folder is read only as a whole, and no pipe of git's
				}
				// Opened to read and write a pipe waits for nobody (fifo(7)).
				tries = append(tries, ": <>"+name, "rm -f "+name, "mv "+name+" x")
			}
			if got := s.must(append([]string{maker, "--write=" + s.project, opened}, tried(tries...)...)...); got != "" {
				t.Errorf("%s %s: %s", maker, opened, got)
			}
		}
	}
}

// The keys of the person's session have names, which are told to nobody inside.
func TestKeysAreNotNamed(t *testing.T) {
	if _, err := os.Stat("/proc/keys"); err != nil {
		t.Skip("needs a kernel that keeps keys")
	}
	s := newSandbox(t)
	for _, maker := range []string{"--terminal=false", "--bubblewrap"} {
		if got := s.must(append([]string{maker, "--write=."}, tried("cat /proc/keys >/dev/null")...)...); got != "" {
			t.Errorf("%s: %s", maker, got)
		}
	}
}

// What an earlier run linked, when a file was still its to write, does not write
// that file in a later one that keeps it.
func TestHardLinksOfAnEarlierRun(t *testing.T) {
	s := newSandbox(t)
	s.git(s.project, "init", "-q")
	s.git(s.project, "init", "-q", "below")
	s.put(".git/hooks/pre-commit", "#!/bin/sh\n")
	s.put(".envrc", "mine\n")
	s.put("below/.vscode/tasks.json", "{}")
	s.put("a/b/x", "")
	s.put("key", "secret")
	s.must("--write=.", "--write-dot-files=.", "--", "sh", "-c",
		"ln .git/config a/b/c && ln .git/hooks/pre-commit a/h && ln .envrc e && ln below/.git/config below/bc && ln below/.vscode/tasks.json t && ln key k")
	for _, maker := range []string{"--terminal=false", "--bubblewrap"} {
		got := s.must(append([]string{maker, "--write=.", "--hide=key"}, tried(
			"echo evil >>a/b/c", "echo evil >>a/h", "echo evil >>e", "echo evil >>below/bc", "echo evil >>t", "grep secret k",
			"rm e", "mv a/h a/i", "mv a x", "echo more >>a/b/x", "git status >/dev/null", "git -C below status >/dev/null")...)...)
		want := "did: echo more >>a/b/x\ndid: git status >/dev/null\ndid: git -C below status >/dev/null\n"
		if got != want {
			t.Errorf("%s: %s", maker, got)
		}
	}
	e := s.run("--write=.", "--hide=key", "--", "true")
	if strings.Contains(e.errors, "hard links") {
		t.Errorf("all were found: %s", e.errors)
	}
}
