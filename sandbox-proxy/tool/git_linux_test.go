package tool

import (
	"bytes"
	"fmt"
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
	for _, star := range []string{"", "*"} {
		testPlanted(t, star)
	}
}

func testPlanted(t *testing.T, star string) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	root := real(t, t.TempDir())
	t.Setenv("HOME", root)
	t.Setenv("XDG_CONFIG_HOME", root)
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
	// Not either where the user trusts every repository: that was said of those
	// that nobody plants.
	if err := os.WriteFile(at(".gitconfig"), []byte("[safe]\n\tdirectory = "+star+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, allowed := range map[string]bool{
		"top": true, "top/deep/er": true, "above/sub": true, "top/nested": false, "top/bare": false, "own": false,
	} {
		os.Remove(ran)
		a := &jsonAnswer{out: kept{room: &h.answers}, errs: kept{room: &h.answers}}
		if err := b.collect(t.Context(), jsonCall{args: []string{"status", "--porcelain"}, cwd: at(dir)}, a); err != nil {
			t.Fatal(err)
		}
		_, there := os.Stat(ran)
		if (a.status == 0) != allowed || (there == nil) != allowed {
			t.Errorf("%s: status %d, ran %v: %s", dir, a.status, there == nil, bytes.TrimSpace(a.errs.b))
		}
	}
}

// A folder is safe by what the program cannot do there, and no safer than git
// takes it for: another user's repository, above or in a written folder, is not,
// unless the user says so.
func TestSafeIsNotAnothers(t *testing.T) {
	kept := safe([]string{"/srv/team/repo", "/srv/team/repo/own", "/tmp/w"}, []string{"/srv/team/repo", "/tmp/w"})
	if want := "[/srv/team/repo /tmp/w /srv/team /srv /tmp]"; fmt.Sprint(kept) != want {
		t.Errorf("%v, want %v", kept, want)
	}
	mine := func(dir string) bool { return dir == "/tmp/w" }
	for said, want := range map[string]string{
		"":                          "[/tmp/w]",
		"*":                         "[/srv/team/repo /tmp/w /srv/team /srv /tmp]",
		"/srv/*":                    "[/srv/team/repo /tmp/w /srv/team]",
		"/srv/team":                 "[/tmp/w /srv/team /srv/team]",
		"~/x /srv/team/repo/nested": "[/tmp/w ~/x /srv/team/repo/nested]",
		".":                         "[/tmp/w]",
	} {
		if got := fmt.Sprint(trusted(kept, strings.Fields(said), mine)); got != want {
			t.Errorf("%q: %s, want %s", said, got, want)
		}
	}
	dir := real(t, t.TempDir())
	if isMine(dir) {
		t.Error("a folder without a repository is one")
	}
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if !isMine(dir) || isMine("/") || isMine("/proc/1") {
		t.Error("whose a repository is was not told")
	}
	if os.Getuid() != 0 {
		return
	}
	for _, p := range []string{filepath.Join(dir, ".git"), dir} {
		if err := os.Chown(p, 65534, -1); err != nil {
			t.Fatal(err)
		}
		if isMine(dir) {
			t.Errorf("%s is another's, and its repository is not", p)
		}
		os.Chown(p, 0, -1)
	}
}
