package api

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/scripts/internal/workspace"
)

// repository makes one with a module a, tagged v0.1.0 where tag is true, that
// then gets another text and another changelog.
func repository(t *testing.T, tag bool, text, next string) workspace.Workspace {
	t.Helper()
	root := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@a.example", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"}, args...)...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	put("go.work", "go 1.26.0\n\nuse ./a\n")
	put("a/go.mod", "module "+workspace.Prefix+"/a\n\ngo 1.26.0\n")
	put("a/a.go", "package a\n\nfunc A(n int) int { return n }\n")
	put("a/CHANGELOG.md", "## v0.1.0 (2026-01-02)\n")
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "one")
	if tag {
		git("tag", "a/v0.0.9", "-m", "an older one")
		git("tag", "a/v0.1.0", "-m", "one")
	}
	put("a/a.go", text)
	put("a/CHANGELOG.md", "## "+next+" (unreleased)\n")
	w, err := workspace.Find(root)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// comparer builds the tool from the real repository.
func comparer(t *testing.T, w workspace.Workspace) *Comparer {
	t.Helper()
	real, err := workspace.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewComparer(t.Context(), real)
	if err != nil {
		t.Fatal(err)
	}
	c.w = w
	return c
}

func TestCompare(t *testing.T) {
	const (
		same    = "package a\n\nfunc A(n int) int { return n }\n"
		more    = same + "\nfunc B() {}\n"
		another = "package a\n\nfunc A(n string) string { return n }\n"
	)
	for _, c := range []struct {
		name, text, next string
		tag              bool
		last, breaks     string
		bad              bool
	}{
		{"no tag yet", another, "v0.1.0", false, "", "", false},
		{"as it was", same, "v0.1.1", true, "v0.1.0", "", false},
		{"more", more, "v0.1.1", true, "v0.1.0", "", false},
		{"a break", another, "v0.1.1", true, "v0.1.0", "A: changed", true},
		{"a break that its version tells of", another, "v0.2.0", true, "v0.1.0", "A: changed", false},
		{"a break on one system", "//go:build linux\n\n" + same, "v0.1.1", true, "v0.1.0", "darwin", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := repository(t, c.tag, c.text, c.next)
			if c.name == "a break on one system" {
				// The package is there on every system, the function is not.
				if err := os.WriteFile(filepath.Join(w.Root, "a", "doc.go"), []byte("package a\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			report, err := comparer(t, w).Compare(t.Context(), w.Modules[0])
			if err != nil {
				t.Fatal(err)
			}
			if report.Last != c.last || report.Next != c.next || !strings.Contains(report.Breaks, c.breaks) || (report.Breaks == "") != (c.breaks == "") {
				t.Errorf("report %+v, want last %q, breaks with %q", report, c.last, c.breaks)
			}
			if (report.Err() != nil) != c.bad {
				t.Errorf("error %v, want one: %v", report.Err(), c.bad)
			}
		})
	}
}
