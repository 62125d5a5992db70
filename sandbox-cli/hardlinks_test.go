package cli_test

import (
	"strings"
	"testing"
)

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
