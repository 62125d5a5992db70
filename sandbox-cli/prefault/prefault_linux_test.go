package prefault

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// A program that imports this package has its heap mapped as it starts, and
// text and data too where it begins with Entry. Its heap begins elsewhere each
// time.
func TestMapsAhead(t *testing.T) {
	plain := build(t)
	for range 10 {
		starts(t, plain).heap.holds(t, "heap", 2<<10)
	}
	if runtime.GOARCH != "amd64" {
		return
	}
	if m := starts(t, plain); m.tables.rss == m.tables.size {
		t.Errorf("all tables (%d KiB) are mapped without Entry: then this test cannot tell", m.tables.size)
	}
	m := starts(t, build(t, "-ldflags=-E=github.com/lnkhq/lnk-sandbox/sandbox-cli/prefault.Entry"))
	m.text.holds(t, "text", m.text.size-4) // not the page with the headers
	m.tables.holds(t, "tables", m.tables.size)
	m.data.holds(t, "data", m.data.size)
	m.heap.holds(t, "heap", 2<<10)
}

// What cannot be mapped ahead is no error, and what is written stays.
func TestPopulate(t *testing.T) {
	b := make([]byte, 3*syscall.Getpagesize())
	b[0], b[len(b)-1] = 1, 2
	populate(0, 1<<20)
	populate(^uintptr(0)-1<<20, 1<<20)
	populate(address(b), 1<<20)
	if b[0] != 1 || b[len(b)-1] != 2 {
		t.Error("memory changed")
	}
	if ahead != nil {
		t.Error("what was taken of the heap is kept")
	}
}

func build(t *testing.T, flags ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "starts")
	cmd := exec.Command("go", append(append([]string{"build", "-trimpath", "-o", name}, flags...), "./testdata/starts")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return name
}

// A mapping is what a line of smaps tells of one, in KiB.
type mapping struct{ size, rss int }

func (m mapping) holds(t *testing.T, what string, least int) {
	t.Helper()
	if m.rss < least {
		t.Errorf("%s: %d KiB of %d are mapped at the start, want %d", what, m.rss, m.size, least)
	}
}

// mappings are those that the parts of a program are in.
type mappings struct{ text, tables, data, heap mapping }

// starts runs the program, and gives what is mapped as it starts.
func starts(t *testing.T, name string) mappings {
	t.Helper()
	out, err := exec.Command(name).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	var at [4]uintptr
	lines.Scan()
	if _, err := fmt.Sscanf(lines.Text(), "%x %v %v %v", &at[0], &at[1], &at[2], &at[3]); err != nil {
		t.Fatalf("%q: %v", lines.Text(), err)
	}
	var found [4]mapping
	var now *mapping
	for lines.Scan() {
		var from, to uintptr
		var n int
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x ", &from, &to); err == nil {
			now = nil
			for i := range at {
				if from <= at[i] && at[i] < to {
					now = &found[i]
				}
			}
		}
		if now == nil {
			continue
		}
		if _, err := fmt.Sscanf(lines.Text(), "Size: %d kB", &n); err == nil {
			now.size = n
		}
		if _, err := fmt.Sscanf(lines.Text(), "Rss: %d kB", &n); err == nil {
			now.rss = n
		}
	}
	return mappings{found[0], found[1], found[2], found[3]}
}
