package verdict

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// goTest runs real tests and reads what the go command prints of them.
func goTest(t *testing.T, text string) (Run, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module x.example/m\n\ngo 1.26.0\n", "m_test.go": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "test", "-json", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "PWD="+dir)
	out, _ := cmd.Output() // the events say whether it failed
	var run Run
	var printed strings.Builder
	if err := run.Read(strings.NewReader(string(out)), &printed); err != nil {
		t.Fatal(err)
	}
	return run, printed.String()
}

func TestRead(t *testing.T) {
	run, printed := goTest(t, `package m

import "testing"

func TestGood(t *testing.T) { t.Log("quiet words") }

func TestParts(t *testing.T) {
	t.Run("one", func(t *testing.T) {})
	t.Run("two/of", func(t *testing.T) { t.Error("loud words") })
	t.Run("three", func(t *testing.T) { t.Skip("needs root: to mount") })
}

func TestItself(t *testing.T) {
	t.Run("fine", func(t *testing.T) {})
	t.Error("not a part's fault")
}

func TestSkipped(t *testing.T) {
	t.Log("a word before")
	t.Skip("needs landlock 99")
}
`)
	passed, failed, skipped := run.Counts()
	// Good, one and fine; two and Itself; three and Skipped.
	if passed != 3 || failed != 2 || skipped != 2 || run.Packages != 1 {
		t.Errorf("%d passed, %d failed, %d skipped in %d packages, want 3, 2, 2 in 1: %+v", passed, failed, skipped, run.Packages, run)
	}
	for _, test := range run.Failed() {
		if test.Name != "TestParts/two/of" && test.Name != "TestItself" {
			t.Errorf("%v failed", test)
		}
	}
	var reasons []string
	for _, s := range run.Skips {
		reasons = append(reasons, s.Reason)
	}
	slices.Sort(reasons)
	if want := []string{"needs landlock 99", "needs root: to mount"}; !slices.Equal(reasons, want) {
		t.Errorf("reasons %q, want %q", reasons, want)
	}
	for _, words := range []string{"loud words", "not a part's fault", "FAIL x.example/m"} {
		if !strings.Contains(printed, words) {
			t.Errorf("what is printed does not say %q:\n%s", words, printed)
		}
	}
	if strings.Contains(printed, "quiet words") {
		t.Errorf("what a good test logged is printed:\n%s", printed)
	}
}

func TestReadFailuresWithoutATest(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"does not build": {"package m\n\nvar x int = \"\"\n", "cannot use"},
		"exits":          {"package m\n\nimport (\"os\"; \"testing\")\n\nfunc TestMain(*testing.M) { println(\"gone\"); os.Exit(3) }\n", "gone"},
		"panics":         {"package m\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) { panic(\"bang\") }\n", "bang"},
	} {
		t.Run(name, func(t *testing.T) {
			run, printed := goTest(t, c.text)
			if passed, failed, _ := run.Counts(); passed != 0 || failed != 1 {
				t.Errorf("%d passed, %d failed, want 0 and 1", passed, failed)
			}
			if !strings.Contains(printed, c.want) {
				t.Errorf("what is printed does not say %q:\n%s", c.want, printed)
			}
		})
	}
}

func TestUnjustified(t *testing.T) {
	facts := Facts{Landlock: 4, Kernel: [2]int{6, 8}, Has: map[string]bool{"apparmor": false, "ipv6": true, "program strace": false}}
	for _, c := range []struct {
		reason string
		uid    int
		could  bool
	}{
		{"needs root", 0, true},
		{"needs root", 1000, false},
		{"needs root: to make a device", 1000, false},
		{"needs an ordinary user", 0, false},
		{"needs an ordinary user", 1000, true},
		{"needs landlock 6", 0, false},
		{"needs landlock 4", 0, true},
		{"needs landlock much", 0, true},
		{"needs kernel 6.12", 0, false},
		{"needs kernel 6.8", 0, true},
		{"needs kernel 5.19", 0, true},
		{"needs kernel 7.0", 0, false},
		{"needs apparmor", 0, false},
		{"needs ipv6", 0, true},
		{"needs program strace", 0, false},
		{"needs luck", 0, true},
		{"slow", 0, true},
		{"", 0, true},
	} {
		run := Run{Name: "r", UID: c.uid, Skips: []Skip{{Test{"p", "TestX"}, c.reason}}}
		if got := len(Unjustified([]Run{run}, facts)) > 0; got != c.could {
			t.Errorf("%q as %d: could have run: %v, want %v", c.reason, c.uid, got, c.could)
		}
	}
}

func TestSkippedHereAndRunThere(t *testing.T) {
	test := Test{"p", "TestX"}
	skips := []Skip{{test, "needs two of us"}}
	root := Run{Name: "root", UID: 0, Skips: skips}
	for name, c := range map[string]struct {
		other Run
		want  int
	}{
		"passed":              {Run{UID: 1000, Tests: map[Test]bool{test: true}}, 0},
		"its parts passed":    {Run{UID: 1000, Tests: map[Test]bool{{"p", "TestX/a"}: true, {"p", "TestX/b"}: true}}, 0},
		"failed":              {Run{UID: 1000, Tests: map[Test]bool{test: false}}, 1},
		"a part failed":       {Run{UID: 1000, Tests: map[Test]bool{{"p", "TestX/a"}: true, {"p", "TestX/b"}: false}}, 1},
		"skipped too":         {Run{UID: 1000, Skips: skips}, 2},
		"another's passed":    {Run{UID: 1000, Tests: map[Test]bool{{"p", "TestXY"}: true}}, 1},
		"passed as the same":  {Run{UID: 0, Tests: map[Test]bool{test: true}}, 1},
		"of another package":  {Run{UID: 1000, Tests: map[Test]bool{{"q", "TestX"}: true}}, 1},
		"there was no other":  {Run{UID: 1000}, 1},
		"only its name alike": {Run{UID: 1000, Tests: map[Test]bool{{"p", "TestXY/a"}: true}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Unjustified([]Run{root, c.other}, Facts{}); len(got) != c.want {
				t.Errorf("%d found, want %d: %+v", len(got), c.want, got)
			}
		})
	}
}
