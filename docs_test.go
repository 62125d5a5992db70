package root_test

import (
	"fmt"
	"go/build/constraint"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// checkPackageDocs holds every package to one doc, in doc.go where it is a
// library, in main.go or doc.go where it is a command, and that file to being
// read on every system.
func checkPackageDocs(sources []source) []string {
	byFolder := map[string][]source{}
	for _, s := range sources {
		dir := path.Dir(s.name)
		byFolder[dir] = append(byFolder[dir], s)
	}
	var faults []string
	for dir, all := range byFolder {
		shipped := slices.DeleteFunc(slices.Clone(all), func(s source) bool { return strings.HasSuffix(s.name, "_test.go") })
		if len(shipped) == 0 {
			shipped = all // a package of tests only says it in one of them
		}
		var docs []source
		for _, s := range shipped {
			if s.Doc != nil {
				docs = append(docs, s)
			}
		}
		if len(docs) != 1 {
			var names []string
			for _, s := range docs {
				names = append(names, path.Base(s.name))
			}
			faults = append(faults, fmt.Sprintf("%s: %d package docs, want 1 %q", dir, len(docs), names))
			continue
		}
		if fault := checkDoc(docs[0]); fault != "" {
			faults = append(faults, docs[0].name+": "+fault)
		}
	}
	return faults
}

// checkDoc says what is wrong with the file that holds a package's doc.
func checkDoc(s source) string {
	name, base := s.File.Name.Name, path.Base(s.name)
	start, where := "Package "+name+" ", []string{"doc.go"}
	if name == "main" {
		start, where = "Command "+path.Base(path.Dir(s.name))+" ", []string{"doc.go", "main.go"}
	}
	text := s.Doc.Text()
	switch {
	case !strings.HasPrefix(text, start):
		return fmt.Sprintf("its package doc does not start with %q", start)
	case len(strings.Fields(text)) < 6:
		return "its package doc says nothing"
	case strings.HasSuffix(base, "_test.go"):
		return ""
	case !slices.Contains(where, base):
		return fmt.Sprintf("the package doc belongs in %s", strings.Join(where, " or "))
	}
	for _, group := range s.Comments {
		for _, c := range group.List {
			if c.Pos() < s.Package && constraint.IsGoBuild(c.Text) {
				return "the file of the package doc has a build constraint, so that some systems do not see it"
			}
		}
	}
	return ""
}

func TestPackageDocs(t *testing.T) {
	report(t, checkPackageDocs(mustSources(t, here())))
}

func TestPackageDocsFail(t *testing.T) {
	const good = "// Package p is what this example is about.\npackage p\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"none", map[string]string{"p/a.go": "package p\n"}, []string{"p: 0 package docs"}},
		{"two", map[string]string{"p/doc.go": good, "p/b.go": good}, []string{"2 package docs", "b.go"}},
		{"elsewhere", map[string]string{"p/a.go": good}, []string{"belongs in doc.go"}},
		{"of another name", map[string]string{"p/doc.go": "// Package q is what this example is about.\npackage p\n"}, []string{"does not start with"}},
		{"of one word", map[string]string{"p/doc.go": "// Package p p.\npackage p\n"}, []string{"says nothing"}},
		{"on one system", map[string]string{"p/doc.go": "//go:build linux\n\n" + good}, []string{"build constraint"}},
		{"a command as a package", map[string]string{"cmd/x/main.go": "// Package main is what this example is about.\npackage main\n"}, []string{"Command x"}},
		{"tests only, no doc", map[string]string{"p/a_test.go": "package p_test\n"}, []string{"0 package docs"}},
		{"one", map[string]string{"p/doc.go": good, "p/a.go": "package p\n", "p/a_test.go": "// A note on these tests.\npackage p\n"}, nil},
		{"a command", map[string]string{"cmd/x/main.go": "// Command x is what this example is about.\npackage main\n"}, nil},
		{"data", map[string]string{"p/doc.go": good, "p/testdata/a.go": "package nothing\n"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			faults := checkPackageDocs(mustSources(t, made(c.files)))
			if c.want == nil {
				report(t, faults)
				return
			}
			wantFault(t, faults, c.want...)
		})
	}
}

// released is the top heading of a changelog: a version, and the day of its
// release or that it has none.
var released = regexp.MustCompile(`(?m)^## (v\d+\.\d+\.\d+) \((unreleased|\d{4}-\d{2}-\d{2})\)$`)

// topVersion gives the version on top of a module's changelog.
func topVersion(tree fs.FS, folder string) (string, error) {
	text, err := textOf(tree, path.Join(folder, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	heading := released.FindStringSubmatch(text)
	first := regexp.MustCompile(`(?m)^## .*$`).FindString(text)
	if heading == nil || first != heading[0] {
		return "", fmt.Errorf("%s/CHANGELOG.md: its first heading %q is not \"## vX.Y.Z (unreleased)\" or with a day", folder, first)
	}
	return heading[1], nil
}

// checkModuleFiles holds a module to what each carries: who reads its folder
// alone finds what it is, what changed, and under which licence.
func checkModuleFiles(tree fs.FS, houses []house) []string {
	var faults []string
	licence, err := textOf(tree, "LICENSE")
	if err != nil || licence == "" {
		return []string{"LICENSE: the root has none"}
	}
	for _, h := range houses {
		needs := []string{"README.md"}
		if h.tagged {
			needs = append(needs, "doc.go")
			if _, err := topVersion(tree, h.folder); err != nil {
				faults = append(faults, err.Error())
			}
		}
		for _, name := range needs {
			name = path.Join(h.folder, name)
			if text, err := textOf(tree, name); err != nil || strings.TrimSpace(text) == "" {
				faults = append(faults, name+": missing or empty")
			}
		}
		name := path.Join(h.folder, "LICENSE")
		if text, err := textOf(tree, name); err != nil || text != licence {
			faults = append(faults, name+": missing, or not the root's")
		}
	}
	return faults
}

func TestModuleFiles(t *testing.T) {
	report(t, checkModuleFiles(here(), houses))
}

func TestModuleFilesFail(t *testing.T) {
	whole := map[string]string{
		"LICENSE": "free", "README.md": "root",
		"m/LICENSE": "free", "m/README.md": "m", "m/doc.go": "package m\n",
		"m/CHANGELOG.md": "# Changes\n\n## v0.2.0 (unreleased)\n\n- x\n\n## v0.1.0 (2026-01-02)\n",
	}
	table := []house{{folder: "."}, {folder: "m", tagged: true}}
	report(t, checkModuleFiles(made(whole), table))
	for _, c := range []struct{ name, file, text, want string }{
		{"no readme", "m/README.md", "", "m/README.md"},
		{"no doc", "m/doc.go", "", "m/doc.go"},
		{"another licence", "m/LICENSE", "not free", "m/LICENSE"},
		{"no changelog", "m/CHANGELOG.md", "", "CHANGELOG.md"},
		{"a changelog with no version", "m/CHANGELOG.md", "# Changes\n\n## next\n\n## v0.1.0 (unreleased)\n", "next"},
		{"no readme of the root", "README.md", " \n", "README.md"},
	} {
		t.Run(c.name, func(t *testing.T) {
			faulty := map[string]string{}
			for name, text := range whole {
				faulty[name] = text
			}
			faulty[c.file] = c.text
			wantFault(t, checkModuleFiles(made(faulty), table), c.want)
		})
	}
}
