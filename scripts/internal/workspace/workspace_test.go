package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFindFromBelow(t *testing.T) {
	w, err := Find(".")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(w.Modules, func(m Module) bool { return m.Folder == "scripts" && m.Path == Prefix+"/scripts" }) {
		t.Errorf("modules %+v do not have scripts among them", w.Modules)
	}
	if here, err := os.Getwd(); err != nil || !strings.HasPrefix(here, w.Root+"/") {
		t.Errorf("root %s is not above %s (%v)", w.Root, here, err)
	}
}

func TestFindOutside(t *testing.T) {
	if w, err := Find(t.TempDir()); err == nil {
		t.Errorf("found %s from a folder that is in no repository", w.Root)
	}
}

func TestReadsRequires(t *testing.T) {
	root := t.TempDir()
	write(t, root, "go.work", "go 1.26.0\n\nuse (\n\t.\n\t./b\n)\n")
	write(t, root, "go.mod", "module "+Prefix+"\n")
	write(t, root, "b/go.mod", "module "+Prefix+"/b\n\nrequire (\n\t"+Prefix+"/a v0.3.0\n\tx.example/y v1.0.0\n)\n")
	w, err := Find(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Modules) != 2 || w.Modules[0].Released() || !w.Modules[1].Released() {
		t.Fatalf("modules %+v", w.Modules)
	}
	if b := w.Modules[1]; b.Folder != "b" || len(b.Siblings) != 1 || b.Siblings["a"] != "v0.3.0" {
		t.Errorf("module %+v, want b requiring a at v0.3.0 and no other sibling", b)
	}
}

func TestInOrder(t *testing.T) {
	needs := func(folders ...string) map[string]string {
		m := map[string]string{}
		for _, f := range folders {
			m[f] = "v0.1.0"
		}
		return m
	}
	w := Workspace{Modules: []Module{
		{Folder: "cli", Siblings: needs("proxy", "client")},
		{Folder: "proxy", Siblings: needs("client")},
		{Folder: "client"},
		// Of a module that the workspace does not have, nothing is waited for.
		{Folder: "other", Siblings: needs("elsewhere")},
	}}
	ordered, err := w.InOrder()
	if err != nil {
		t.Fatal(err)
	}
	at := func(folder string) int {
		return slices.IndexFunc(ordered, func(m Module) bool { return m.Folder == folder })
	}
	if len(ordered) != 4 || at("client") > at("proxy") || at("proxy") > at("cli") {
		t.Errorf("order %+v", ordered)
	}
	w.Modules[2].Siblings = needs("cli")
	if _, err := w.InOrder(); err == nil {
		t.Error("a circle was put in an order")
	}
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	name = filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
