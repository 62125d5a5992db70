package alone

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/scripts/internal/workspace"
)

// tree makes a repository of three modules: a, b that imports a, and c that
// imports b, and so needs a as well.
func tree(t *testing.T, change map[string]string) workspace.Workspace {
	t.Helper()
	const p = workspace.Prefix
	const head = "\n\ngo 1.26.0\n"
	files := map[string]string{
		"go.work":  "go 1.26.0\n\nuse (\n\t./a\n\t./b\n\t./c\n)\n",
		"a/go.mod": "module " + p + "/a" + head,
		"a/a.go":   "package a\n\nfunc A() int { return 1 }\n",
		"b/go.mod": "module " + p + "/b" + head + "\nrequire " + p + "/a v0.1.0\n",
		"b/b.go":   "package b\n\nimport \"" + p + "/a\"\n\nfunc B() int { return a.A() }\n",
		"c/go.mod": "module " + p + "/c" + head + "\nrequire " + p + "/b v0.1.0\n\nrequire " + p + "/a v0.1.0 // indirect\n",
		"c/c.go":   "package c\n\nimport \"" + p + "/b\"\n\nfunc C() int { return b.B() }\n",
	}
	for name, text := range change {
		files[name] = text
	}
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w, err := workspace.Find(root)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// errorsOf checks every module, by its folder.
func errorsOf(t *testing.T, w workspace.Workspace) map[string]error {
	t.Helper()
	found := map[string]error{}
	for _, m := range w.Modules {
		found[m.Folder] = Check(t.Context(), w, m)
		for _, name := range []string{modName, sumName} {
			if _, err := os.Lstat(filepath.Join(w.Root, m.Folder, name)); err == nil {
				t.Errorf("%s/%s is left", m.Folder, name)
			}
		}
	}
	return found
}

func TestCheckPasses(t *testing.T) {
	for folder, err := range errorsOf(t, tree(t, nil)) {
		if err != nil {
			t.Errorf("%s: %v", folder, err)
		}
	}
}

func TestCheckFails(t *testing.T) {
	const p = workspace.Prefix
	for _, c := range []struct{ name, file, text, module, want string }{
		{"a requirement that the workspace hides", "b/go.mod", "module " + p + "/b\n\ngo 1.26.0\n", "b", "replaced but not required"},
		{"a requirement that nothing needs", "a/go.mod", "module " + p + "/a\n\ngo 1.26.0\n\nrequire " + p + "/b v0.1.0\n", "a", "--fix a"},
		{"a file that does not build on macOS", "a/a_darwin.go", "package a\n\nfunc A() int { return 2 }\n", "a", "darwin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := errorsOf(t, tree(t, map[string]string{c.file: c.text}))[c.module]
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one saying %q", err, c.want)
			}
		})
	}
}

func TestFix(t *testing.T) {
	const p = workspace.Prefix
	w := tree(t, map[string]string{
		"c/go.mod":       "module " + p + "/c\n\ngo 1.26.0\n\nrequire " + p + "/a v0.1.0\n",
		"b/CHANGELOG.md": "## v0.3.0 (unreleased)\n",
	})
	c := w.Modules[2]
	if err := Check(t.Context(), w, c); err == nil {
		t.Fatal("an untidy go.mod passed")
	}
	if err := Fix(t.Context(), w, c); err != nil {
		t.Fatal(err)
	}
	if err := Check(t.Context(), w, c); err != nil {
		t.Errorf("not mended: %v", err)
	}
	text, err := os.ReadFile(filepath.Join(w.Root, "c", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "replace") || !strings.Contains(string(text), p+"/b v0.3.0") {
		t.Errorf("go.mod has a replace, or not b at the version of its changelog:\n%s", text)
	}
}
