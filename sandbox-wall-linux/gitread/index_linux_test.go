package gitread

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Indexes are read as git writes them, in every version and with both hashes.
func TestGitlinksAsGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"sha1", "sha256"} {
		hash := map[string]int{"sha1": 20, "sha256": 32}[format]
		for _, version := range []int{2, 3, 4} {
			dir := t.TempDir()
			run := func(input string, args ...string) {
				t.Helper()
				cmd := exec.Command(git, append([]string{"-C", dir}, args...)...)
				cmd.Stdin = strings.NewReader(input)
				cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("git %q: %s", args, out)
				}
			}
			run("", "init", "-q", "--object-format="+format)
			run("", "config", "index.version", fmt.Sprint(version))
			id := strings.Repeat("1", 2*hash)
			var lines strings.Builder
			var want []string
			for i := range 40 {
				fmt.Fprintf(&lines, "100644 %s\tplain/%s%d\n", id, strings.Repeat("x", i), i)
				if i%7 == 0 {
					fmt.Fprintf(&lines, "160000 %s\tplain/%s%d.sub\n", id, strings.Repeat("x", i), i)
					want = append(want, fmt.Sprintf("plain/%s%d.sub", strings.Repeat("x", i), i))
				}
			}
			long := "deep/" + strings.Repeat("d", 200) + "/" + strings.Repeat("e", 4000-210)
			fmt.Fprintf(&lines, "160000 %s\t%s\n160000 %s\tz\n", id, long, id)
			want = append(want, long, "z")
			run(lines.String(), "update-index", "--add", "--index-info")
			if version == 3 { // which git writes where an entry needs it
				run("", "update-index", "--skip-worktree", "plain/0", "z")
			}
			check := func(split bool) {
				t.Helper()
				index, err := os.ReadFile(filepath.Join(dir, ".git/index"))
				if err != nil {
					t.Fatal(err)
				}
				if int(index[7]) != version {
					t.Fatalf("git wrote version %d, want %d", index[7], version)
				}
				got, whole, shared, err := gitlinks(index, hash, 100)
				if split {
					if shared == "" {
						t.Fatal("not split")
					}
					if index, err = os.ReadFile(filepath.Join(dir, ".git/sharedindex."+shared)); err != nil {
						t.Fatal(err)
					}
					got, whole, _, err = gitlinks(index, hash, 100)
				}
				slices.Sort(got)
				slices.Sort(want)
				if err != nil || !whole || !slices.Equal(got, want) {
					t.Errorf("%s, version %d: %q, %v, %v", format, version, got, whole, err)
				}
				if got, whole, _, err := gitlinks(index, hash, 3); len(got) != 3 || whole || err != nil {
					t.Errorf("at most 3: %q, %v, %v", got, whole, err)
				}
				for n := 0; n < len(index); n += 1 + n/16 {
					gitlinks(index[:n], hash, 100) // no panic
				}
			}
			check(false)
			if version != 3 {
				run("", "update-index", "--split-index")
				check(true)
			}
		}
	}
}

func gitlinks(index []byte, hash, most int) ([]string, bool, string, error) {
	return Gitlinks(bytes.NewReader(index), int64(len(index)), hash, most)
}

func FuzzGitlinks(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00"+strings.Repeat("\x00", 20)), 20)
	f.Fuzz(func(t *testing.T, index []byte, hash int) {
		if hash != 20 {
			hash = 32
		}
		paths, _, _, _ := gitlinks(index, hash, 8)
		if len(paths) > 8 {
			t.Errorf("%d paths", len(paths))
		}
		for _, p := range paths {
			if p == "" || strings.Contains(p, "\x00") {
				t.Errorf("%q", p)
			}
		}
	})
}
