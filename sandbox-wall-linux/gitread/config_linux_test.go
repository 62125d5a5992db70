package gitread

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Configurations are read as git reads them.
func TestConfigAsGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"[core]\n\thooksPath = .githooks\n", "[CORE]hookspath=x", "[a \"B c\"] key = v ; x\n# y\n; z\n[a.B] k\n[a \"q\\\"\\\\\"]\nk=\n",
		"[a]\nk = \" x \" y  \"#\" # c\nk = one \\\n  two\nk = a\\tb\\nc\\\\d\\\"\n", "[a]\r\nk = v\r\n", "\ufeff[a]\nk=v", "[a]\nk = x\\\n\n[b]\nk=  y   z  \n",
		"[a-b.c-d]\nk-1 = 0x\n", "[a]\nk\n  =  x\n", "[a]\n1k = x\n", "[a\nk=x\n", "[a] k = \"x\n", "[a] k = \\x\n", "k = x\n", "[a]\nk ; c\nl # c\nm\t=\tv\n", "[]\nk=v\n",
		"[a \"x\ty\"]\nk = v", "[a \"x\"y]\nk=v", "[ a]\nk=v", "[a] b = c [d]\n", "[a]\nk = 'q' `b` \"i\"n\n", "[a]\nk=v\n\x00", "[a]\nk =\t\"\t\"\t\n", "[a][b]k=v\n", "[a]\nk_x=v\n",
	} {
		file := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, gitErr := exec.Command(git, "config", "--file", file, "--list", "-z").Output()
		entries, err := Config(text)
		if (err != nil) != (gitErr != nil) {
			t.Errorf("%q: %v, and git says %v", text, err, gitErr)
			continue
		}
		var got, want []string
		for _, e := range entries {
			got = append(got, e.Name()+"\n"+e.Value)
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			if !strings.Contains(line, "\n") && line != "" {
				line += "\n" // a name alone
			}
			if line != "" {
				want = append(want, line)
			}
		}
		if err == nil && !slices.Equal(got, want) {
			t.Errorf("%q: %q, and git says %q", text, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		config   string
		want     []Name
		composed bool
	}{
		{"[core]\nhooksPath = .h", []Name{{".h", Folder}}, false},
		{"[core]\nattributesFile = \":(optional)a b\"", []Name{{"a b", File}}, false},
		{"[includeIf \"gitdir:x\"]\npath=~/c", []Name{{"~/c", Included}}, false},
		{"[alias]\nx = !./x | 'a b' >out", []Name{{"./x", Program}, {"a b", Program}, {"out", Program}, {"a", Program}, {"b", Program}}, false},
		{"[alias]\nx = log --output=tools/x", []Name{{"--output=tools/x", Mentioned}, {"tools/x", Mentioned}}, false},
		{"[credential \"h\"]\nhelper = \"!cd x && $y\"", []Name{{"cd", Program}, {"x", Program}, {"$y", Program}}, true},
		{"[diff]\nexternal = \"\\\"$(git rev-parse --show-toplevel)/d\\\"\"", []Name{{Tree + "/d", Program}}, false},
		{"[filter \"f\"]\nclean = sh -c 'exec ./c %f'", []Name{{"sh", Program}, {"-c", Program}, {"exec ./c %f", Program}, {"exec", Program}, {"./c", Program}, {"%f", Program}}, false},
		{"[remote \"o\"]\nurl = https://a.test/b", nil, false},
		{"[user]\nname = a b", nil, false},
		{"[x]\ny = a/b", []Name{{"a/b", Mentioned}}, false},
		{"[x]\nk", nil, false},
	} {
		entries, err := Config(c.config)
		if err != nil || len(entries) != 1 {
			t.Fatalf("%q: %v, %v", c.config, entries, err)
		}
		if got, composed := entries[0].Names(); !slices.Equal(got, c.want) || composed != c.composed {
			t.Errorf("%q: %q, %v", c.config, got, composed)
		}
	}
}

func FuzzConfig(f *testing.F) {
	f.Add("[a \"b\"]\nk = \"v\\\n\" # c\n")
	f.Fuzz(func(t *testing.T, text string) {
		entries, _ := Config(text)
		for _, e := range entries {
			if e.Key == "" || e.Section != strings.ToLower(e.Section) || len(e.Value) > len(text) {
				t.Errorf("%q: %+v", text, e)
			}
			e.Names()
		}
	})
}
