package release

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/scripts/internal/workspace"
)

// A yard is a repository of two modules, b that requires a, both to be released
// and everything as it should be.
type yard struct {
	t    *testing.T
	root string
}

func newYard(t *testing.T) yard {
	t.Helper()
	y := yard{t, t.TempDir()}
	const p = workspace.Prefix
	y.put("go.work", "go 1.26.0\n\nuse (\n\t./b\n\t./a\n)\n")
	y.put(".gitignore", "/bin/\n")
	y.put("a/go.mod", "module "+p+"/a\n\ngo 1.26.0\n")
	y.put("a/CHANGELOG.md", "## v0.1.0 (2026-01-02)\n\n- First.\n")
	y.put("b/go.mod", "module "+p+"/b\n\ngo 1.26.0\n\nrequire "+p+"/a v0.1.0\n")
	y.put("b/CHANGELOG.md", "## v0.1.0 (2026-01-02)\n\n- Second.\n")
	y.git("init", "-q", "-b", "main")
	y.commit()
	return y
}

func (y yard) put(name, text string) {
	y.t.Helper()
	name = filepath.Join(y.root, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		y.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		y.t.Fatal(err)
	}
}

func (y yard) git(args ...string) string {
	y.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = y.root
	out, err := cmd.CombinedOutput()
	if err != nil {
		y.t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit commits all, and has the tests passed for it.
func (y yard) commit() {
	y.t.Helper()
	y.git("add", ".")
	y.git("commit", "-q", "-m", "x")
	y.put("bin/scripts/tested", y.git("rev-parse", "HEAD")+"\n")
}

func (y yard) workspace() workspace.Workspace {
	y.t.Helper()
	w, err := workspace.Find(y.root)
	if err != nil {
		y.t.Fatal(err)
	}
	return w
}

func (y yard) plan(checks ...Check) Plan {
	y.t.Helper()
	p, err := Make(y.t.Context(), y.workspace(), checks...)
	if err != nil {
		y.t.Fatal(err)
	}
	return p
}

func TestMain(m *testing.M) {
	// The tags and commits of these tests are nobody's, and are not signed by
	// whoever runs them.
	for _, v := range []string{"AUTHOR", "COMMITTER"} {
		os.Setenv("GIT_"+v+"_NAME", "a")
		os.Setenv("GIT_"+v+"_EMAIL", "a@a.example")
	}
	os.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	os.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	os.Exit(m.Run())
}

func names(p Plan) []string {
	var names []string
	for _, tag := range p.Tags {
		names = append(names, tag.Name)
	}
	return names
}

func TestPlanAndDo(t *testing.T) {
	y := newYard(t)
	p := y.plan()
	if want := []string{"a/v0.1.0", "b/v0.1.0"}; len(p.Problems) > 0 || !slices.Equal(names(p), want) {
		t.Fatalf("plan %+v, want the tags %q and no problem", p, want)
	}
	if tags := y.git("tag"); tags != "" {
		t.Fatalf("making a plan tagged %s", tags)
	}
	if err := p.Do(t.Context(), y.workspace()); err != nil {
		t.Fatal(err)
	}
	if text := y.git("tag", "-l", "--format=%(contents)", "b/v0.1.0"); text != "b v0.1.0\n\n- Second." {
		t.Errorf("b's tag says %q", text)
	}
	if p := y.plan(); len(p.Tags) > 0 || len(p.Problems) > 0 {
		t.Errorf("after it, the plan is %+v", p)
	}
}

func TestProblems(t *testing.T) {
	for name, c := range map[string]struct {
		change func(yard)
		want   string
	}{
		"a changed tree":     {func(y yard) { y.put("a/a.go", "package a\n") }, "differs"},
		"another branch":     {func(y yard) { y.git("checkout", "-q", "-b", "side") }, "side is checked out"},
		"tests not run":      {func(y yard) { os.Remove(filepath.Join(y.root, "bin/scripts/tested")) }, "scripts/test"},
		"tests of another":   {func(y yard) { y.put("bin/scripts/tested", strings.Repeat("0", 40)) }, "scripts/test"},
		"no day":             {func(y yard) { y.put("a/CHANGELOG.md", "## v0.1.0 (unreleased)\n"); y.commit() }, "unreleased"},
		"no changelog":       {func(y yard) { y.put("a/CHANGELOG.md", "# Changes\n"); y.commit() }, "no heading"},
		"a sibling not next": {func(y yard) { y.put("a/CHANGELOG.md", "## v0.2.0 (2026-01-02)\n"); y.commit() }, "b requires a at v0.1.0"},
		"a lower version":    {func(y yard) { y.git("tag", "b/v0.3.0", "-m", "x") }, "not higher than v0.3.0"},
		"changed, no version": {func(y yard) {
			y.git("tag", "a/v0.1.0", "-m", "x")
			y.put("a/a.go", "package a\n")
			y.commit()
		}, "a has changed since v0.1.0"},
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t)
			c.change(y)
			p := y.plan()
			if len(p.Problems) != 1 || !strings.Contains(p.Problems[0], c.want) {
				t.Errorf("problems %q, want one with %q", p.Problems, c.want)
			}
			before := y.git("tag")
			if p.Do(t.Context(), y.workspace()) == nil || y.git("tag") != before {
				t.Error("a plan with a problem was carried out")
			}
		})
	}
}

func TestACheckIsAProblem(t *testing.T) {
	p := newYard(t).plan(func(_ context.Context, m workspace.Module) error {
		if m.Folder == "b" {
			return errors.New("not good")
		}
		return nil
	})
	if len(p.Problems) != 1 || p.Problems[0] != "b: not good" {
		t.Errorf("problems %q", p.Problems)
	}
}

func TestDoIsAllOrNone(t *testing.T) {
	y := newYard(t)
	p := y.plan()
	y.git("tag", "b/v0.1.0", "-m", "in the way")
	if p.Do(t.Context(), y.workspace()) == nil {
		t.Fatal("a tag that was there already was made")
	}
	if tags := y.git("tag"); tags != "b/v0.1.0" {
		t.Errorf("tags %q are left", tags)
	}
}
