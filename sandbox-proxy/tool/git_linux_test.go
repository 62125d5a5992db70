package tool

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// A repository that the program can make runs nothing outside: git, started by
// a tool below a written folder, refuses it. One that the wall keeps, and one
// above what is written, is used as ever.
func TestGitFindsNothingPlanted(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	root := real(t, t.TempDir())
	t.Setenv("HOME", root)
	ran := filepath.Join(root, "ran")
	run := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command(git, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %s", args, out)
		}
	}
	at := func(p string) string { return filepath.Join(root, p) }
	for _, dir := range []string{"top/nested", "top/deep/er", "above/sub", "own", "top/bare"} {
		os.MkdirAll(at(dir), 0o755)
	}
	for _, dir := range []string{"top", "top/nested", "above", "own"} {
		run(at(dir), "init", "-q")
		run(at(dir), "config", "core.fsmonitor", "echo ran >> "+ran+"; false")
	}
	run(at("top/bare"), "init", "-q", "--bare")
	run(at("top/bare"), "config", "core.fsmonitor", "echo ran >> "+ran+"; false")
	run(at("top/bare"), "config", "core.worktree", at("top/bare"))
	h, err := New(Config{Sandbox: "web", Environ: os.Environ(), Write: []string{at("top"), at("above/sub"), at("own")}, Own: []string{at("own")}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	b := &bridge{h, "git", route.Tool{Argv: []string{git}, Ask: route.AskNone}}
	for dir, allowed := range map[string]bool{
		"top": true, "top/deep/er": true, "above/sub": true, "top/nested": false, "top/bare": false, "own": false,
	} {
		os.Remove(ran)
		a, err := b.collect(t.Context(), jsonCall{args: []string{"status", "--porcelain"}, cwd: at(dir)})
		if err != nil {
			t.Fatal(err)
		}
		_, there := os.Stat(ran)
		if (a.Status == 0) != allowed || (there == nil) != allowed {
			t.Errorf("%s: status %d, ran %v: %s", dir, a.Status, there == nil, strings.TrimSpace(a.Stderr))
		}
	}
}
