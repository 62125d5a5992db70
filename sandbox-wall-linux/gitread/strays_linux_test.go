package gitread

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func strayNames(index []byte, hash, most int) ([]string, string, error) {
	return Strays(bytes.NewReader(index), int64(len(index)), hash, most)
}

// What git writes has no such name, also where several threads are to read it.
func TestNoStraysOfGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"sha1", "sha256"} {
		hash := map[string]int{"sha1": 20, "sha256": 32}[format]
		for _, version := range []int{2, 4} {
			for _, threads := range []int{1, 4} {
				dir := t.TempDir()
				run := func(input string, args ...string) {
					t.Helper()
					cmd := exec.Command(git, append([]string{"-C", dir}, args...)...)
					cmd.Stdin, cmd.Env = strings.NewReader(input), append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir)
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Fatalf("git %q: %s", args, out)
					}
				}
				run("", "init", "-q", "--object-format="+format)
				var lines strings.Builder
				for i := range 400 {
					fmt.Fprintf(&lines, "100644 %s\t.g/..x/%s/git%d\n", strings.Repeat("1", 2*hash), strings.Repeat("x", i%9+1), i)
				}
				run(lines.String(), "-c", fmt.Sprintf("index.version=%d", version), "-c", fmt.Sprintf("index.threads=%d", threads), "update-index", "--add", "--index-info")
				index, err := os.ReadFile(filepath.Join(dir, ".git/index"))
				if err != nil {
					t.Fatal(err)
				}
				if is := bytes.Contains(index, []byte("IEOT")) && bytes.Contains(index, []byte("EOIE")); is != (threads > 1) {
					t.Fatalf("for threads: %v", is)
				}
				if names, _, err := strayNames(index, hash, 9); err != nil || names != nil {
					t.Errorf("%s, version %d, %d threads: %q, %v", format, version, threads, names, err)
				}
			}
		}
	}
}

// entries are an index of the second version: its head and its entries.
func entries(names ...string) []byte {
	b := binary.BigEndian.AppendUint32([]byte("DIRC\x00\x00\x00\x02"), uint32(len(names)))
	for _, n := range names {
		b = append(b, entry(n)...)
	}
	return b
}

func entry(name string) []byte {
	b := append(make([]byte, 60), 0, byte(len(name)))
	binary.BigEndian.PutUint32(b[24:], 0o100644)
	b = append(b, name...)
	return append(b, make([]byte, 8-len(b)%8)...)
}

func extension(kind string, payload ...byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte(kind), uint32(len(payload))), payload...)
}

func sum(index ...[]byte) []byte { return append(slices.Concat(index...), make([]byte, 20)...) }

func TestStrays(t *testing.T) {
	for name, is := range map[string]bool{
		".git/hooks/pre-commit": true, "../x": true, "a/../../x": true, "/etc/x": true, "a//b": true, "a/./b": true, ".GIT/config": true, "sub/.git": true, "..": true, "a/..": true, "./a": true,
		"a": false, ".gitignore": false, "a/.github/x": false, "a../b": false, "...": false, "a/": false, "git/.gitx": false,
	} {
		names, _, err := strayNames(sum(entries("A", name, "z")), 20, 9)
		if err != nil || slices.Contains(names, name) != is || len(names) > 1 {
			t.Errorf("%q: %q, %v", name, names, err)
		}
	}
	if names, _, err := strayNames(sum(entries("../a", "../b", "../c")), 20, 2); len(names) != 2 || err != nil {
		t.Errorf("%q, %v", names, err)
	}
}

// An index that git's threads would read otherwise than one entry after the other
// is none.
func TestIndexesThatReadTwoWays(t *testing.T) {
	at := func(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
	first := entries("a", "b")
	hidden := entry("../evil")
	second, end := 12+len(entry("a")), len(first)
	eoie := func(offset int) []byte { return extension("EOIE", append(at(offset), make([]byte, 20)...)...) }
	ieot := func(blocks ...int) []byte {
		payload := at(1)
		for _, n := range blocks {
			payload = append(payload, at(n)...)
		}
		return extension("IEOT", payload...)
	}
	inside := extension("link", append(make([]byte, 20), make([]byte, 40)...)...)
	for what, c := range map[string]struct {
		index []byte
		ok    bool
	}{
		"nothing":                            {sum(first), true},
		"as git writes it":                   {sum(first, ieot(12, 1, second, 1), eoie(end)), true},
		"one block":                          {sum(first, ieot(12, 2), eoie(end)), true},
		"a block elsewhere":                  {sum(first, extension("ZZZZ", hidden...), ieot(12, 1, end+8, 1), eoie(end)), false},
		"a block too early":                  {sum(first, ieot(second, 1, 12, 1), eoie(end)), false},
		"more blocks than entries":           {sum(first, ieot(12, 2, end, 1), eoie(end)), false},
		"extensions elsewhere":               {sum(first, extension("ZZZZ", inside...), eoie(end+8)), false},
		"the end in the end of another":      {sum(first, extension("ZZZZ", append(inside, eoie(end+8)...)...)), false},
		"the same, far from its beginning":   {sum(first, extension("ZZZZ", append(make([]byte, 2*window), eoie(end+8)...)...)), false},
		"the same, in what is shared":        {sum(first, extension("link", append(make([]byte, 19), eoie(end+8)...)...)), false},
		"a long one at the end":              {sum(first, extension("ZZZZ", make([]byte, 2*window)...)), true},
		"an extension longer than the index": {sum(first, extension("ZZZZ", make([]byte, 8)...)[:12]), false},
	} {
		_, _, strays := strayNames(c.index, 20, 9)
		_, _, _, links := gitlinks(c.index, 20, 9)
		if (strays == nil) != c.ok || (links == nil) != c.ok {
			t.Errorf("%s: %v, %v", what, strays, links)
		}
	}
	// A name that begins with a part of the one before it is not whole where a
	// thread begins.
	v4 := append([]byte("DIRC\x00\x00\x00\x04"), at(2)...)
	for _, rest := range []string{"\x00a/b\x00", "\x00.git/x\x00"} { // how much is taken off, then a name
		head := make([]byte, 62)
		binary.BigEndian.PutUint32(head[24:], 0o100644)
		v4 = append(append(v4, head...), rest...)
	}
	if _, _, err := strayNames(sum(v4, ieot(12, 1, 12+62+5, 1), eoie(len(v4))), 20, 9); err == nil {
		t.Error("a thread reads another name")
	}
}
