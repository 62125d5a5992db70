package root_test

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
)

// maxLines is how long a file may be. Most are far under half of it: a longer
// one has two subjects.
const maxLines = 500

// notRead are the files that nobody reads from top to bottom.
var notRead = []string{"LICENSE", "go.sum"}

// checkSizes finds files that are too long. Data of tests may be as long as
// what it shows.
func checkSizes(tree fs.FS) ([]string, error) {
	files, err := filesOf(tree)
	if err != nil {
		return nil, err
	}
	var faults []string
	for _, name := range files {
		if slices.Contains(notRead, path.Base(name)) || slices.Contains(strings.Split(name, "/"), "testdata") {
			continue
		}
		text, err := textOf(tree, name)
		if err != nil {
			return nil, err
		}
		if lines := strings.Count(text, "\n"); lines > maxLines {
			faults = append(faults, fmt.Sprintf("%s: %d lines, more than %d: give its second subject a file of its own", name, lines, maxLines))
		}
	}
	return faults, nil
}

func TestSizes(t *testing.T) {
	faults, err := checkSizes(here())
	if err != nil {
		t.Fatal(err)
	}
	report(t, faults)
}

func TestSizesFail(t *testing.T) {
	long := strings.Repeat("x\n", maxLines+1)
	faults, err := checkSizes(made(map[string]string{
		"a/long.go":       long,
		"a/go.sum":        long,
		"LICENSE":         long,
		"a/testdata/long": long,
		"bin/long":        long,
		"a/fits.md":       strings.Repeat("x\n", maxLines),
	}))
	if err != nil {
		t.Fatal(err)
	}
	wantFault(t, faults, "a/long.go", "501")
}
