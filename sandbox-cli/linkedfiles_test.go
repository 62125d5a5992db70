package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tried is a shell's words that try each of some commands and print what went
// through.
func tried(commands ...string) []string {
	var script strings.Builder
	for _, c := range commands {
		script.WriteString("(" + c + ") 2>/dev/null && echo 'did: " + c + "'\n")
	}
	script.WriteString("true")
	return []string{"--", "sh", "-c", script.String()}
}

func (s *sandbox) link(to, name string) {
	s.t.Helper()
	at := filepath.Join(s.project, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Symlink(to, at); err != nil {
		s.t.Fatal(err)
	}
}

// Where dot files are links, and where links in them lead, nothing is planted:
// neither by the link nor in what it leads to. git and the rest work on.
func TestLinksOfDotFiles(t *testing.T) {
	s := newSandbox(t)
	s.git(s.project, "init", "-q")
	s.put("store/x", "")
	if err := os.Rename(filepath.Join(s.project, ".git"), filepath.Join(s.project, "store/repository")); err != nil {
		t.Fatal(err)
	}
	s.link("store/repository", ".git")
	s.put("scripts/check", "#!/bin/sh\n")
	s.link("check", "scripts/latest")
	s.link("../../../scripts/latest", "store/repository/hooks/pre-commit")
	s.put("conf/tasks.json", "{}")
	s.link("../conf/tasks.json", ".vscode/tasks.json")
	s.link("conf/a/../envrc", ".envrc")
	s.put("conf/a/b", "")
	s.git(s.project, "init", "-q", "below")
	s.put("tools/hooks/x", "")
	if err := os.RemoveAll(filepath.Join(s.project, "below/.git/hooks")); err != nil {
		t.Fatal(err)
	}
	s.link("../../tools/hooks", "below/.git/hooks")
	mischief := tried(
		"rm .git", "mv .git g", "ln -sfn /tmp .git", "mv store s", "mv store/repository store/r", "echo x >.git/config", "echo x >store/repository/hooks/post-commit",
		"echo x >scripts/check", "rm scripts/check", "rm scripts/latest", "ln -sf /bin/true scripts/latest", "mv scripts s",
		"echo x >conf/tasks.json", "mv conf c", "rm .envrc", "ln -sf /bin/true .envrc", "echo x >conf/envrc", "mv conf/a conf/b", "rm -r .vscode",
		"echo x >tools/hooks/pre-commit", "mv tools t", "rm below/.git/hooks",
		"echo x >scripts/more", "echo x >conf/more", "git -C below status >/dev/null", "test -e .git/HEAD", "ls -d .envrc/. >/dev/null",
	)
	const well = "did: echo x >scripts/more\ndid: echo x >conf/more\ndid: git -C below status >/dev/null\ndid: test -e .git/HEAD\ndid: ls -d .envrc/. >/dev/null\n"
	if got := s.must(append([]string{"--write=."}, mischief...)...); got != well {
		t.Errorf("by the kernel: %s", got)
	}
	if _, err := os.Lstat(filepath.Join(s.project, "conf/envrc")); err == nil {
		t.Error("what stood in for conf/envrc was left behind")
	}
	e := s.run(append([]string{"--write=.", "--bubblewrap"}, mischief...)...)
	if e.status != 125 || !strings.Contains(e.errors, "is a link, which bubblewrap cannot keep from being replaced: put there what it leads to") {
		t.Errorf("by bubblewrap: status %d: %s%s", e.status, e.out, e.errors)
	}
	for _, name := range []string{".git", ".envrc"} {
		if err := os.Remove(filepath.Join(s.project, name)); err != nil {
			t.Fatal(err)
		}
	}
	got := s.must("--write=.", "--bubblewrap", "--", "sh", "-c", "for f in tools/hooks/pre-commit conf/tasks.json; do echo x >$f && echo did $f; done 2>/dev/null; mv tools t 2>/dev/null && echo did mv; true")
	if got != "" {
		t.Errorf("by bubblewrap: %s", got)
	}
}
