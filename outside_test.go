package root_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A clone stands anywhere, so no file may lean on what stands beside the
// repository on the machine it was written on.

// sharedFolders hold other things than work trees: naming them says nothing
// about where somebody's clone stands.
var sharedFolders = []string{
	"/", "/tmp", "/var/tmp", "/dev/shm", "/root", "/home", "/srv", "/opt", "/mnt", "/media", "/usr", "/usr/src", "/usr/local", "/usr/local/src", "/run", "/var", "/etc",
}

// upwards is a relative path that starts by going up.
var upwards = regexp.MustCompile(`(?:\.\./)+[A-Za-z0-9._-]+`)

// checkOutside finds what names a neighbour of the repository: by a relative
// path from the file's own folder or from the root, or by the absolute path of
// the folder that holds the clone. A path that goes up to what is not there is
// an example of one, and there are many in the tests of a sandbox.
func checkOutside(tree fs.FS, parent string, neighbours []string) ([]string, error) {
	files, err := filesOf(tree)
	if err != nil {
		return nil, err
	}
	var absolute *regexp.Regexp
	if !slices.Contains(sharedFolders, parent) && path.Dir(parent) != "/home" {
		// Where it starts a path: another path may have it in its middle.
		absolute = regexp.MustCompile(`(?m)(?:^|[^A-Za-z0-9._~/-])` + regexp.QuoteMeta(parent) + "/")
	}
	var faults []string
	for _, name := range files {
		text, err := textOf(tree, name)
		if err != nil {
			return nil, err
		}
		if absolute != nil && absolute.MatchString(text) {
			faults = append(faults, fmt.Sprintf("%s: names %s/, the folder of a clone", name, parent))
		}
		for _, up := range slices.Compact(upwards.FindAllString(text, -1)) {
			for _, from := range []string{path.Dir(name), "."} {
				beside, ok := strings.CutPrefix(path.Join(from, up), "../")
				if ok && slices.Contains(neighbours, beside) {
					faults = append(faults, fmt.Sprintf("%s: %s stands beside the repository, not in it", name, up))
					break
				}
			}
		}
	}
	return faults, nil
}

func TestNothingOutside(t *testing.T) {
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	parent := filepath.Dir(root)
	var neighbours []string
	entries, err := os.ReadDir(parent)
	if err != nil {
		t.Logf("the folder above cannot be listed, so that only its own path is looked for: %v", err)
	}
	for _, e := range entries {
		// What is a letter or two may stand behind ../ in any path that is made up.
		if e.Name() != filepath.Base(root) && len(e.Name()) > 2 {
			neighbours = append(neighbours, e.Name())
		}
	}
	faults, err := checkOutside(here(), parent, neighbours)
	if err != nil {
		t.Fatal(err)
	}
	report(t, faults)
}

func TestNothingOutsideFails(t *testing.T) {
	up := strings.Repeat("../", 1)
	for _, c := range []struct{ name, parent, file, text, want string }{
		{"beside it, from the root", "/yard", "a.md", "see " + up + "notes/x.md", "notes"},
		{"beside it, from a folder", "/yard", "d/a.md", "see " + up + up + "notes", "notes"},
		{"written for a reader at the root", "/yard", "d/a.go", "// as in " + up + "notes/x", "notes"},
		{"by its absolute path", "/yard", "a.sh", "cat /yard/x", "/yard/"},
		{"at the start of a line", "/yard", "a.txt", "one\n/yard/x", "/yard/"},
		{"in quotes", "/yard", "a.go", `"/yard/x"`, "/yard/"},
		{"in the middle of another path", "/yard", "a.txt", "/home/ann/yard/x", ""},
		{"a sibling", "/yard", "d/a.md", "see " + up + "e/notes", ""},
		{"up to what is not there", "/yard", "d/a_test.go", `"` + up + up + up + `etc/passwd"`, ""},
		{"a folder that holds other things", "/tmp", "a.sh", "ls /tmp/x", ""},
		{"a user's home folder", "/home/ann", "a.md", "in /home/ann/x", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			faults, err := checkOutside(made(map[string]string{c.file: c.text}), c.parent, []string{"notes"})
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				report(t, faults)
				return
			}
			wantFault(t, faults, c.file, c.want)
		})
	}
}
