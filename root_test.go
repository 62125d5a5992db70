// Package root_test holds the rules of the whole repository as tests: which
// module may import which, what every module carries, what no file may say.
// Each file has one subject: the rule, the test that holds the tree to it, and
// a test that shows the rule failing on a small made tree with a fault in it.
package root_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// prefix starts the path of every module here.
const prefix = "github.com/lnkhq/lnk-sandbox"

// here is the repository: the folder that a test of its root package runs in.
func here() fs.FS { return os.DirFS(".") }

// made is a small tree for the tests of the rules: a path and a text each.
func made(files map[string]string) fs.FS {
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return tree
}

// filesOf gives every file of the tree but what git and the build keep for
// themselves, in order.
func filesOf(tree fs.FS) ([]string, error) {
	var files []string
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".git" || name == "bin": // as .gitignore has it
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Name() == "alone.mod" || d.Name() == "alone.sum": // scripts/check-alone
		case d.Type().IsRegular():
			files = append(files, name)
		}
		return nil
	})
	return files, err
}

// textOf gives a file's text; a binary file has none.
func textOf(tree fs.FS, name string) (string, error) {
	data, err := fs.ReadFile(tree, name)
	if err != nil || bytes.IndexByte(data, 0) >= 0 {
		return "", err
	}
	return string(data), nil
}

// foldersOfModules gives the folder of each module, the root's as ".".
func foldersOfModules(files []string) []string {
	var folders []string
	for _, name := range files {
		if path.Base(name) == "go.mod" {
			folders = append(folders, path.Dir(name))
		}
	}
	return folders
}

// moduleOf gives the folder of the module that a file belongs to: the nearest
// one above it.
func moduleOf(folders []string, name string) string {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if slices.Contains(folders, dir) {
			return dir
		}
	}
	return "."
}

// A source is one parsed Go file. It is read whatever its build tags say, so
// that a rule holds for every system at once.
type source struct {
	name   string // path in the tree
	module string // folder of its module
	test   bool   // of a test, or of a package of fakes for tests
	*ast.File
}

// forTests says whether a package is one of fakes for tests: its name is what it
// fakes with "test" behind it, as httptest's is.
func forTests(folder string) bool {
	return slices.ContainsFunc(strings.Split(folder, "/"), func(part string) bool {
		return len(part) > len("test") && strings.HasSuffix(part, "test")
	})
}

// importsOf gives the paths that a file imports.
func (s source) importsOf() []string {
	var paths []string
	for _, spec := range s.Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, "\"`"))
	}
	return paths
}

// sourcesOf parses every Go file of the tree. Those in folders named testdata
// are data, as they are to the go command.
func sourcesOf(tree fs.FS) ([]source, error) {
	files, err := filesOf(tree)
	if err != nil {
		return nil, err
	}
	folders := foldersOfModules(files)
	var sources []source
	for _, name := range files {
		if path.Ext(name) != ".go" || slices.Contains(strings.Split(name, "/"), "testdata") {
			continue
		}
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		sources = append(sources, source{
			name:   name,
			module: moduleOf(folders, name),
			test:   strings.HasSuffix(name, "_test.go") || forTests(path.Dir(name)),
			File:   file,
		})
	}
	return sources, nil
}

// mustSources is sourcesOf in a test.
func mustSources(t *testing.T, tree fs.FS) []source {
	t.Helper()
	sources, err := sourcesOf(tree)
	if err != nil {
		t.Fatal(err)
	}
	if len(sources) == 0 {
		t.Fatal("the tree has no Go file: nothing would be checked")
	}
	return sources
}

// report fails a test with each fault that a rule found.
func report(t *testing.T, faults []string) {
	t.Helper()
	for _, fault := range faults {
		t.Error(fault)
	}
}

// wantFault holds a rule to finding exactly one fault, with these words in it.
func wantFault(t *testing.T, faults []string, words ...string) {
	t.Helper()
	if len(faults) != 1 {
		t.Fatalf("found %d faults, want 1: %q", len(faults), faults)
	}
	for _, word := range words {
		if !strings.Contains(faults[0], word) {
			t.Errorf("fault %q does not say %q", faults[0], word)
		}
	}
}
