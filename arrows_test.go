package root_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// houseOf finds a module's row by its folder.
func houseOf(houses []house, folder string) (house, bool) {
	i := slices.IndexFunc(houses, func(h house) bool { return h.folder == folder })
	if i < 0 {
		return house{}, false
	}
	return houses[i], true
}

// covers says whether one of the reasons names the module of an import path.
func covers(reasons []reason, importPath string) bool {
	return slices.ContainsFunc(reasons, func(r reason) bool {
		return importPath == r.path || strings.HasPrefix(importPath, r.path+"/")
	})
}

// ours gives an import path's place in this repository.
func ours(importPath string) (place string, ok bool) {
	if importPath == prefix {
		return ".", true
	}
	return strings.CutPrefix(importPath, prefix+"/")
}

// standard says whether a path is the standard library's: only its first
// element has no dot.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// checkImport says what is wrong with one import, or nothing.
func checkImport(houses []house, from house, importPath string, test bool) string {
	if place, ok := ours(importPath); ok {
		switch {
		case forTests(place) && !test:
			return fmt.Sprintf("%s may import %s, a package of fakes, in its tests only", from.folder, importPath)
		case place == from.folder || strings.HasPrefix(place, from.folder+"/"), from.folder == ".":
			return ""
		case slices.ContainsFunc(from.siblings, func(r reason) bool {
			return place == r.path || strings.HasPrefix(place, r.path+"/")
		}):
			return ""
		}
		return fmt.Sprintf("%s may not import %s: no arrow between them is in the table", from.folder, importPath)
	}
	if standard(importPath) || covers(from.others, importPath) || test && covers(from.inTests, importPath) {
		return ""
	}
	if covers(from.inTests, importPath) {
		return fmt.Sprintf("%s may import %s in its tests only", from.folder, importPath)
	}
	return fmt.Sprintf("%s may not import %s: no reason for it is in the table", from.folder, importPath)
}

// checkArrows holds every import in every file to the table.
func checkArrows(houses []house, sources []source) []string {
	var faults []string
	for _, s := range sources {
		from, ok := houseOf(houses, s.module)
		if !ok {
			faults = append(faults, fmt.Sprintf("%s: its module %q is not in the table", s.name, s.module))
			continue
		}
		for _, importPath := range s.importsOf() {
			if fault := checkImport(houses, from, importPath, s.test); fault != "" {
				faults = append(faults, s.name+": "+fault)
			}
		}
	}
	return faults
}

func TestArrows(t *testing.T) {
	report(t, checkArrows(houses, mustSources(t, here())))
}

func TestArrowsFail(t *testing.T) {
	const sibling = prefix + "/wall"
	table := []house{
		{folder: "proxy", others: []reason{{"x.example/net", ""}}, inTests: []reason{{"x.example/test", ""}}},
		{folder: "wall", siblings: []reason{{"client", ""}}},
		{folder: "client"},
	}
	for _, c := range []struct {
		name, file, imports string
		want                []string // of the one fault; none: allowed
	}{
		{"an arrow that is not drawn", "proxy/a.go", sibling, []string{"proxy/a.go", sibling, "no arrow"}},
		{"on one system only", "proxy/a_darwin.go", sibling, []string{"a_darwin.go", "no arrow"}},
		{"in a test", "proxy/a_test.go", sibling, []string{"a_test.go", "no arrow"}},
		{"a package below the sibling", "proxy/a.go", sibling + "/sub", []string{"no arrow"}},
		{"a sibling whose name starts the same", "wall/a.go", prefix + "/client-two", []string{"no arrow"}},
		{"others without a reason", "wall/a.go", "y.example/z", []string{"y.example/z", "no reason"}},
		{"a test library that is shipped", "proxy/a.go", "x.example/test/sub", []string{"tests only"}},
		{"a fake that is shipped", "proxy/a.go", prefix + "/proxy/worldtest", []string{"fakes", "tests only"}},
		{"a module that is not in the table", "new/a.go", "fmt", []string{"not in the table"}},
		{"a drawn arrow", "wall/a.go", prefix + "/client/sub", nil},
		{"its own package", "proxy/a.go", prefix + "/proxy/inside", nil},
		{"a reasoned one", "proxy/a.go", "x.example/net/idna", nil},
		{"a test library in a test", "proxy/a_test.go", "x.example/test", nil},
		{"a fake in a test", "proxy/a_test.go", prefix + "/proxy/worldtest", nil},
		{"a test library in a fake", "proxy/worldtest/a.go", "x.example/test", nil},
		{"the standard library", "wall/a.go", "net/http", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := map[string]string{c.file: "package p\n\nimport _ \"" + c.imports + "\"\n"}
			for _, folder := range []string{"proxy", "wall", "client", "new"} {
				tree[folder+"/go.mod"] = "module m\n"
			}
			faults := checkArrows(table, mustSources(t, made(tree)))
			if c.want == nil {
				report(t, faults)
				return
			}
			wantFault(t, faults, c.want...)
		})
	}
}

// Every module of the tree is in the table, and the table has no other.
func TestEveryModuleHasArrows(t *testing.T) {
	files, err := filesOf(here())
	if err != nil {
		t.Fatal(err)
	}
	folders := foldersOfModules(files)
	for _, folder := range folders {
		if _, ok := houseOf(houses, folder); !ok {
			t.Errorf("module %s is not in the table of arrows", folder)
		}
	}
	for _, h := range houses {
		if !slices.Contains(folders, h.folder) {
			t.Errorf("the table of arrows has %s, which is no module", h.folder)
		}
		for _, r := range slices.Concat(h.siblings, h.others, h.inTests, h.through) {
			if r.why == "" {
				t.Errorf("%s: %s has no reason", h.folder, r.path)
			}
		}
	}
}

// A listed is what the go command says of a package.
type listed struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Error      *struct{ Err string }
}

// depsOf lists the packages that a folder's packages are built of on a system,
// their tests included.
func depsOf(t *testing.T, folder, system string) []listed {
	t.Helper()
	return list(t, folder, system, "-deps", "-test")
}

// shippedDepsOf is depsOf without the tests.
func shippedDepsOf(t *testing.T, folder, system string) []listed {
	t.Helper()
	return list(t, folder, system, "-deps")
}

func list(t *testing.T, folder, system string, flags ...string) []listed {
	t.Helper()
	args := append([]string{"list", "-e", "-json=ImportPath,Standard,Imports,Error"}, flags...)
	cmd := exec.Command("go", append(args, "./...")...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		t.Fatalf("go list in %s: %v", folder, err)
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if l.Error != nil {
			t.Fatalf("go list in %s for %s: %s: %s", folder, system, l.ImportPath, l.Error.Err)
		}
		// A package built for a test reads "path [path.test]".
		l.ImportPath, _, _ = strings.Cut(l.ImportPath, " ")
		all = append(all, l)
	}
}

// checkBuiltOf holds what a module is really built of to the table: what we
// import brings its own imports along.
func checkBuiltOf(h house, deps []listed) []string {
	var faults []string
	all := slices.Concat(h.others, h.inTests, h.through)
	for _, l := range deps {
		if _, ok := ours(l.ImportPath); ok || l.Standard || standard(l.ImportPath) || covers(all, l.ImportPath) {
			continue
		}
		faults = append(faults, fmt.Sprintf("%s is built of %s: no reason for it is in the table", h.folder, l.ImportPath))
	}
	return slices.Compact(slices.Sorted(slices.Values(faults)))
}

func TestBuiltOf(t *testing.T) {
	for _, h := range houses {
		if !h.tagged {
			continue // the standard library only, which TestArrows holds them to
		}
		for _, system := range []string{"linux", "darwin"} {
			t.Run(h.folder+"/"+system, func(t *testing.T) {
				deps := depsOf(t, h.folder, system)
				if len(deps) == 0 {
					t.Fatal("no package listed: nothing would be checked")
				}
				report(t, checkBuiltOf(h, deps))
			})
		}
	}
}

func TestBuiltOfFails(t *testing.T) {
	h := house{folder: "proxy", others: []reason{{"x.example/a", ""}}, through: []reason{{"x.example/b", ""}}}
	faults := checkBuiltOf(h, []listed{
		{ImportPath: "fmt", Standard: true},
		{ImportPath: prefix + "/proxy"},
		{ImportPath: "x.example/a/sub"},
		{ImportPath: "x.example/b"},
		{ImportPath: "x.example/c"},
		{ImportPath: "x.example/c"},
	})
	wantFault(t, faults, "proxy", "x.example/c")
}
