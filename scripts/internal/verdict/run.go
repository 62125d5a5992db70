package verdict

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
)

// maxLine bounds one event; a test that prints more on one line than this is
// not read further.
const maxLine = 16 << 20

// A Test names one test of one package.
type Test struct{ Package, Name string }

// A Skip is a test that was skipped, and the reason it gave.
type Skip struct {
	Test
	Reason string
}

// A Run is what one run of the tests came to.
type Run struct {
	// Name says whose run it was.
	Name string
	// UID is who it ran as.
	UID int
	// Tests says of each test whether it passed. A test with parts is not
	// counted beside them. A package that failed without a failed test is in it
	// under the name "".
	Tests map[Test]bool
	// Skips are the tests that were skipped.
	Skips []Skip
	// Packages are how many packages had tests.
	Packages int
}

// event is one line of "go test -json".
type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
	Elapsed                                                float64
}

// Counts gives how many tests passed, failed and were skipped.
func (r Run) Counts() (passed, failed, skipped int) {
	for _, ok := range r.Tests {
		if ok {
			passed++
		} else {
			failed++
		}
	}
	return passed, failed, len(r.Skips)
}

// Failed gives the tests that failed.
func (r Run) Failed() []Test {
	var failed []Test
	for test, ok := range r.Tests {
		if !ok {
			failed = append(failed, test)
		}
	}
	return failed
}

// Read reads the events to their end, and writes a line a package to out, and
// all that a failed one printed.
func (r *Run) Read(events io.Reader, out io.Writer) error {
	r.Tests = map[Test]bool{}
	reader := reading{run: r, out: out, said: map[Test]*strings.Builder{}, built: map[string]*strings.Builder{}, parts: map[Test]bool{}}
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			// The go command itself says some things beside its events.
			fmt.Fprintln(out, lines.Text())
			continue
		}
		reader.take(e)
	}
	return lines.Err()
}

// A reading is the state of Read.
type reading struct {
	run   *Run
	out   io.Writer
	said  map[Test]*strings.Builder   // what a test, or under "" its package, has printed
	built map[string]*strings.Builder // what building a package has printed
	parts map[Test]bool               // tests that have parts
}

func (d *reading) take(e event) {
	test := Test{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		builder(d.built, e.ImportPath).WriteString(e.Output)
	case "output":
		builder(d.said, test).WriteString(e.Output)
	case "run":
		// A part's own name may have slashes in it: each piece may be a test.
		for i, c := range e.Test {
			if c == '/' {
				d.parts[Test{e.Package, e.Test[:i]}] = true
			}
		}
	case "pass", "fail", "skip":
		if e.Test == "" {
			d.closePackage(e)
			return
		}
		d.closeTest(test, e.Action)
	}
}

// closeTest counts one test that has ended.
func (d *reading) closeTest(test Test, action string) {
	switch {
	case action == "skip":
		d.run.Skips = append(d.run.Skips, Skip{test, reason(d.said[test])})
	case action == "fail" && !d.partFailed(test):
		d.run.Tests[test] = false
	case action == "pass" && !d.parts[test]:
		d.run.Tests[test] = true
	}
	if action != "fail" {
		delete(d.said, test)
	}
}

// partFailed says whether a part of the test has failed: if none has, the test
// itself did.
func (d *reading) partFailed(test Test) bool {
	for t, ok := range d.run.Tests {
		if !ok && t.Package == test.Package && strings.HasPrefix(t.Name, test.Name+"/") {
			return true
		}
	}
	return false
}

// closePackage prints a package's line.
func (d *reading) closePackage(e event) {
	elapsed := time.Duration(e.Elapsed * float64(time.Second)).Round(10 * time.Millisecond)
	switch e.Action {
	case "skip": // no test files
		return
	case "pass":
		d.run.Packages++
		fmt.Fprintf(d.out, "ok   %s %s\n", e.Package, elapsed)
	case "fail":
		d.run.Packages++
		failed := false
		for test, ok := range d.run.Tests {
			failed = failed || test.Package == e.Package && !ok
		}
		if !failed {
			d.run.Tests[Test{Package: e.Package}] = false
		}
		fmt.Fprintf(d.out, "FAIL %s %s\n", e.Package, elapsed)
		if built := d.built[e.FailedBuild]; built != nil {
			fmt.Fprint(d.out, built)
		}
		for test, said := range d.said {
			if test.Package == e.Package && (test.Name == "" || !passing(d.run, test)) {
				fmt.Fprint(d.out, said)
			}
		}
	}
	for test := range d.said {
		if test.Package == e.Package {
			delete(d.said, test)
		}
	}
}

// passing says whether a test is known to have passed. One that was still
// running when its package ended is not.
func passing(r *Run, test Test) bool { return r.Tests[test] }

// where starts a line that a test logged: its file and line.
var where = regexp.MustCompile(`^\s*[\w.-]+\.go:\d+: `)

// reason finds what a skipped test said on its last logged line.
func reason(said *strings.Builder) string {
	if said == nil {
		return ""
	}
	found := ""
	for line := range strings.Lines(said.String()) {
		if place := where.FindString(line); place != "" {
			found = strings.TrimSpace(strings.TrimPrefix(line, place))
		}
	}
	return found
}

func builder[K comparable](all map[K]*strings.Builder, key K) *strings.Builder {
	if all[key] == nil {
		all[key] = &strings.Builder{}
	}
	return all[key]
}
