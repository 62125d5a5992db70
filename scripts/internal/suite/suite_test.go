package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func put(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestStartsGoroutines(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want bool
	}{
		"a go statement":     {"func f() { go f() }", true},
		"a wait group's":     {"import \"sync\"\n\nfunc f() { var g sync.WaitGroup; g.Go(f) }", true},
		"a parallel test":    {"import \"testing\"\n\nfunc TestX(t *testing.T) { t.Parallel() }", true},
		"a server":           {"import _ \"net/http\"", true},
		"neither":            {"func f() { f() }", false},
		"a member named Go":  {"type m struct{ Go string }\n\nfunc f(x m) string { return x.Go }", false},
		"only a lock's word": {"import \"sync\"\n\nvar mu sync.Mutex", false},
	} {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "a.go"), "package p\n\n"+c.body+"\n", 0o644)
		got, err := startsGoroutines(dir, []string{"a.go"})
		if err != nil || got != c.want {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
}

func TestCopyTree(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	put(t, filepath.Join(from, "a/closed.txt"), "text", 0o600)
	put(t, filepath.Join(from, "a/run"), "#!/bin/sh", 0o700)
	put(t, filepath.Join(from, ".git/config"), "x", 0o644)
	put(t, filepath.Join(from, "bin/old"), "x", 0o755)
	put(t, filepath.Join(from, "a/bin/kept"), "x", 0o644)
	if err := os.Symlink("closed.txt", filepath.Join(from, "a/link")); err != nil {
		t.Fatal(err)
	}
	if err := copyTree(from, to); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"a/closed.txt": 0o644, "a/run": 0o755, "a/bin/kept": 0o644} {
		info, err := os.Stat(filepath.Join(to, name))
		if err != nil || info.Mode().Perm()&0o755 != want {
			t.Errorf("%s: %v, %v, want mode %o", name, info, err, want)
		}
	}
	if link, err := os.Readlink(filepath.Join(to, "a/link")); err != nil || link != "closed.txt" {
		t.Errorf("the link reads %q, %v", link, err)
	}
	for _, name := range []string{".git", "bin"} {
		if exists(filepath.Join(to, name)) {
			t.Errorf("%s was copied", name)
		}
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if open(dir) {
		t.Error("a folder that only its owner can enter counts as open")
	}
	below := filepath.Join(dir, "below")
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	if open(below) {
		t.Error("a folder below a closed one counts as open")
	}
	if !open("/usr/bin") {
		t.Error("/usr/bin counts as closed")
	}
}

func TestEscaped(t *testing.T) {
	if got := escaped("github.com/BurntSushi/toml"); got != "github.com/!burnt!sushi/toml" {
		t.Errorf("escaped %q", got)
	}
}

// A test binary is started outside its tree by a mistake of ours only; then it
// must not be started at all.
func TestRunAsElsewhere(t *testing.T) {
	order := filepath.Join(t.TempDir(), "order.json")
	put(t, order, `{"UID": 1, "From": "/nowhere", "To": "/nowhere"}`, 0o600)
	err := RunAs(order, []string{"/bin/true"})
	if err == nil || !strings.Contains(err.Error(), "is not in /nowhere") {
		t.Errorf("error %v", err)
	}
}
