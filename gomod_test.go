package root_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// goVersion is what every go.mod says. Not "1.26": tidy rewrites that, and then
// the workspace complains.
const goVersion = "1.26.0"

// A modFile is a go.mod as "go mod edit -json" prints it.
type modFile struct {
	Module    struct{ Path string }
	Go        string
	Toolchain string
	Require   []struct{ Path, Version string }
	Replace   []struct {
		Old, New struct{ Path, Version string }
	}
}

// A workFile is a go.work as "go work edit -json" prints it.
type workFile struct {
	Go      string
	Use     []struct{ DiskPath string }
	Replace []json.RawMessage
}

// checkMod holds one module's go.mod to what lets it be installed by its
// version: its siblings at the version to be tagged next, and no replace, which
// makes "go install <module>/cmd/x@version" fail.
func checkMod(folder string, mod modFile, next map[string]string) []string {
	var faults []string
	bad := func(format string, args ...any) {
		faults = append(faults, path.Join(folder, "go.mod")+": "+fmt.Sprintf(format, args...))
	}
	if want := path.Join(prefix, folder); mod.Module.Path != want {
		bad("its module is %s, want %s", mod.Module.Path, want)
	}
	if mod.Go != goVersion {
		bad("go %s, want %s", mod.Go, goVersion)
	}
	if mod.Toolchain != "" {
		bad("it chooses a toolchain, which is its user's to choose")
	}
	if folder == "." {
		return append(faults, checkRootMod(mod, next)...)
	}
	for _, r := range mod.Replace {
		bad("it replaces %s: the root's go.mod and go.work do that", r.Old.Path)
	}
	for _, r := range mod.Require {
		sibling, ok := ours(r.Path)
		if ok && r.Version != next[sibling] {
			bad("it requires %s at %s, whose changelog has %q on top", sibling, r.Version, next[sibling])
		}
	}
	return faults
}

// checkRootMod holds the root to requiring nothing and replacing each sibling
// by its folder.
func checkRootMod(mod modFile, next map[string]string) []string {
	var faults []string
	if len(mod.Require) > 0 {
		faults = append(faults, "go.mod: the root requires "+mod.Require[0].Path+": it requires nothing")
	}
	replaced := map[string]string{}
	for _, r := range mod.Replace {
		sibling, _ := ours(r.Old.Path)
		if r.Old.Version != "" || r.New.Path != "./"+sibling {
			faults = append(faults, fmt.Sprintf("go.mod: %s is replaced by %s, want every version by ./%s", r.Old.Path, r.New.Path, sibling))
		}
		replaced[sibling] = r.New.Path
	}
	for _, sibling := range slices.Sorted(maps.Keys(next)) {
		if replaced[sibling] == "" {
			faults = append(faults, "go.mod: no replace for "+sibling)
		}
	}
	return faults
}

// checkWork holds go.work to using every module but the tools, with no replace.
func checkWork(work workFile, folders []string) []string {
	var faults []string
	if work.Go != goVersion {
		faults = append(faults, fmt.Sprintf("go.work: go %s, want %s", work.Go, goVersion))
	}
	if len(work.Replace) > 0 {
		faults = append(faults, "go.work: it has a replace: the root's go.mod holds them")
	}
	var used []string
	for _, u := range work.Use {
		used = append(used, path.Clean(u.DiskPath))
	}
	for _, folder := range folders {
		// The workspace takes the highest version of a dependency over all its
		// modules: a tool in it would choose versions for what we ship.
		if in, want := slices.Contains(used, folder), folder != "scripts/tools"; in != want {
			faults = append(faults, fmt.Sprintf("go.work: module %s is used: %v, want %v", folder, in, want))
		}
	}
	return faults
}

// checkOneVersion holds the modules to one version of each dependency: the
// workspace's tests run with the highest, and so would not have tested a lower.
func checkOneVersion(mods map[string]modFile) []string {
	var faults []string
	versions := map[string]string{}
	for _, folder := range slices.Sorted(maps.Keys(mods)) {
		if folder == "scripts/tools" {
			continue
		}
		for _, r := range mods[folder].Require {
			if _, ok := ours(r.Path); ok {
				continue
			}
			if was := versions[r.Path]; was != "" && was != r.Version {
				faults = append(faults, fmt.Sprintf("%s/go.mod: %s at %s, elsewhere at %s", folder, r.Path, r.Version, was))
			}
			versions[r.Path] = r.Version
		}
	}
	return faults
}

// readMod has the go command read a go.mod or a go.work.
func readMod(t *testing.T, tree fs.FS, name string, into any) {
	t.Helper()
	text, err := textOf(tree, name)
	if err != nil {
		t.Fatal(err)
	}
	verb := strings.TrimPrefix(path.Base(name), "go.")
	cmd := exec.Command("go", verb, "edit", "-json", "/dev/stdin")
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func TestModFiles(t *testing.T) {
	tree := here()
	next := map[string]string{}
	for _, h := range houses {
		if !h.tagged {
			continue
		}
		version, err := topVersion(tree, h.folder)
		if err != nil {
			t.Error(err)
		}
		next[h.folder] = version
	}
	var folders []string
	mods := map[string]modFile{}
	for _, h := range houses {
		var mod modFile
		readMod(t, tree, path.Join(h.folder, "go.mod"), &mod)
		report(t, checkMod(h.folder, mod, next))
		mods[h.folder] = mod
		folders = append(folders, h.folder)
	}
	report(t, checkOneVersion(mods))
	var work workFile
	readMod(t, tree, "go.work", &work)
	report(t, checkWork(work, folders))
}

func TestModFilesFail(t *testing.T) {
	const head = "module " + prefix + "/a\n\ngo " + goVersion + "\n"
	next := map[string]string{"a": "v0.1.0", "b": "v0.2.0"}
	for _, c := range []struct{ name, folder, text, want string }{
		{"as it should be", "a", head + "require " + prefix + "/b v0.2.0\nrequire x.example/y v1.0.0\n", ""},
		{"a replace", "a", head + "replace " + prefix + "/b => ../b\n", "replaces"},
		{"an older sibling", "a", head + "require " + prefix + "/b v0.1.0\n", "requires b at v0.1.0"},
		{"an unknown sibling", "a", head + "require " + prefix + "/c v0.1.0\n", "requires c"},
		{"another version of Go", "a", "module " + prefix + "/a\n\ngo 1.25.0\n", "go 1.25.0"},
		{"a toolchain", "a", head + "toolchain go1.26.8\n", "toolchain"},
		{"another path", "b", head, "its module is"},
		{"a root with a require", ".", "module " + prefix + "\n\ngo " + goVersion + "\nrequire x.example/y v1.0.0\nreplace " + prefix + "/a => ./a\nreplace " + prefix + "/b => ./b\n", "requires nothing"},
		{"a root without a replace", ".", "module " + prefix + "\n\ngo " + goVersion + "\nreplace " + prefix + "/a => ./a\n", "no replace for b"},
		{"a root that replaces one version", ".", "module " + prefix + "\n\ngo " + goVersion + "\nreplace " + prefix + "/a => ./a\nreplace " + prefix + "/b v0.2.0 => ./b\n", "every version"},
		{"a root elsewhere", ".", "module " + prefix + "\n\ngo " + goVersion + "\nreplace " + prefix + "/a => ./a\nreplace " + prefix + "/b => ./a\n", "./b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var mod modFile
			readMod(t, made(map[string]string{"go.mod": c.text}), "go.mod", &mod)
			faults := checkMod(c.folder, mod, next)
			if c.want == "" {
				report(t, faults)
				return
			}
			wantFault(t, faults, c.want)
		})
	}
}

func TestWorkFileFails(t *testing.T) {
	folders := []string{".", "a", "scripts/tools"}
	for _, c := range []struct{ name, text, want string }{
		{"as it should be", "go " + goVersion + "\nuse (\n.\n./a\n)\n", ""},
		{"a module left out", "go " + goVersion + "\nuse .\n", "module a is used: false"},
		{"the tools in it", "go " + goVersion + "\nuse (\n.\n./a\n./scripts/tools\n)\n", "scripts/tools is used: true"},
		{"a replace", "go " + goVersion + "\nuse (\n.\n./a\n)\nreplace x.example/y => ./a\n", "replace"},
		{"another version of Go", "go 1.26\nuse (\n.\n./a\n)\n", "go 1.26,"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var work workFile
			readMod(t, made(map[string]string{"go.work": c.text}), "go.work", &work)
			faults := checkWork(work, folders)
			if c.want == "" {
				report(t, faults)
				return
			}
			wantFault(t, faults, c.want)
		})
	}
}

func TestOneVersionFails(t *testing.T) {
	mods := map[string]modFile{}
	for folder, text := range map[string]string{
		"a":             "module m\nrequire x.example/y v1.0.0\n",
		"b":             "module m\nrequire x.example/y v1.1.0\n",
		"scripts/tools": "module m\nrequire x.example/y v1.9.0\n",
	} {
		var mod modFile
		readMod(t, made(map[string]string{"go.mod": text}), "go.mod", &mod)
		mods[folder] = mod
	}
	wantFault(t, checkOneVersion(mods), "b/go.mod", "v1.1.0", "v1.0.0")
}
