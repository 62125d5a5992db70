package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// in makes a workspace of one module with the tests, and goes into it.
func in(t *testing.T, tests string) {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.work":     "go 1.26.0\n\nuse ./m\n",
		"m/go.mod":    "module x.example/m\n\ngo 1.26.0\n",
		"m/m_test.go": "package m\n\nimport \"testing\"\n\n" + tests,
	} {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
	t.Setenv("GOWORK", "")
}

const (
	good    = "func TestGood(t *testing.T) {}\n"
	bad     = "func TestBad(t *testing.T) { t.Error(\"why it is bad\") }\n"
	skipped = "func TestLazy(t *testing.T) { t.Skip(\"needs luck\") }\n"
	messy   = "func TestMessy(t *testing.T) { os.MkdirTemp(\"\", \"left-\") }\n"
)

func TestRun(t *testing.T) {
	for _, c := range []struct {
		name, tests, only, ci string
		good                  bool
		says                  []string
	}{
		// The part "machine" counts as one more that passed.
		{"a good test", good, "tests", "", true, []string{"\n2 passed, 0 failed, 0 skipped\n"}},
		{"a bad test", good + bad, "tests", "", false, []string{"why it is bad", "\n2 passed, 1 failed, 0 skipped\n", "failed: uid"}},
		{"a skip", good + skipped, "tests", "", true, []string{"skipped:", "needs luck", "could have run", "\n2 passed, 0 failed, 1 skipped\n"}},
		{"a skip where none may be", good + skipped, "tests", "true", false, []string{"failed: could have run", "\n2 passed, 1 failed, 0 skipped\n"}},
		{"no tests", "var _ testing.TB\n", "tests", "", false, []string{"no test was run"}},
		{"not formatted", "func  TestGood(t *testing.T) {}\n", "format", "", false, []string{"m/m_test.go", "\n1 passed, 1 failed, 0 skipped\n"}},
		{"targets that are not there", good, "fuzz", "", false, []string{"fuzz FuzzConnectTarget: ", "failed: fuzz"}},
		{"no such part", good, "luck", "", false, []string{"--only luck: no such part"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, c.tests)
			t.Setenv("CI", c.ci)
			t.Setenv("LNK_NO_SKIP", "")
			var out strings.Builder
			if got := run(t.Context(), &out, c.only, nil); got != c.good {
				t.Errorf("good: %v, want %v", got, c.good)
			}
			for _, words := range c.says {
				if !strings.Contains(out.String(), words) {
					t.Errorf("it does not say %q:\n%s", words, out.String())
				}
			}
		})
	}
}

func TestWhatIsLeftFails(t *testing.T) {
	in(t, messy)
	text, err := os.ReadFile("m/m_test.go")
	if err != nil {
		t.Fatal(err)
	}
	withOS := strings.Replace(string(text), "import \"testing\"", "import (\n\t\"os\"\n\t\"testing\"\n)", 1)
	if err := os.WriteFile("m/m_test.go", []byte(withOS), 0o644); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if run(t.Context(), &out, "tests,left", nil) {
		t.Errorf("a test that left a folder passed:\n%s", out.String())
	}
	if !strings.Contains(out.String(), "left behind") || !strings.Contains(out.String(), "/left-") {
		t.Errorf("it does not say what was left:\n%s", out.String())
	}
}
