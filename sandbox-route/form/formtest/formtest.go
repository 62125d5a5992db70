package formtest

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

var update = flag.Bool("update", false, "write the outcomes of the golden files anew")

// Form is how one form is read and written.
type Form[T any] struct {
	Read  func(io.Reader) (T, error)
	Write func(io.Writer, T) error
}

type goldenCase struct {
	name, input, outcome string
}

// Golden runs the cases of a file. Each input that is read is written, read
// and written once more, to the same bytes.
func Golden[T any](t *testing.T, file string, f Form[T]) {
	t.Helper()
	head, cases := load(t, file)
	if len(cases) == 0 {
		t.Fatalf("%s has no case", file)
	}
	for i, c := range cases {
		got := outcome(t, f, c)
		if *update {
			cases[i].outcome = got
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			if got != c.outcome {
				t.Errorf("\n got %s\nwant %s", got, c.outcome)
			}
		})
	}
	if *update {
		save(t, file, head, cases)
	}
}

// outcome reads one input and gives the line that says what came of it.
func outcome[T any](t *testing.T, f Form[T], c goldenCase) string {
	t.Helper()
	v, err := f.Read(strings.NewReader(c.input))
	if err != nil {
		checkRefusal(t, err)
		return "!! " + err.Error()
	}
	return "-> " + string(roundTrip(t, f, v))
}

// checkRefusal holds a refusal to being one line, which a command can end on.
func checkRefusal(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, form.ErrRequest) {
		t.Errorf("refused with %v, which does not wrap ErrRequest", err)
	}
	if s := err.Error(); s == "" || strings.ContainsAny(s, "\n\r\x00\x1b") || strings.HasSuffix(s, ".") || len(s) > 2000 {
		t.Errorf("refused with %q, which is not one line", s)
	}
}

// roundTrip writes a value and gives the line, having read it and written it
// again to the same bytes.
func roundTrip[T any](t *testing.T, f Form[T], v T) []byte {
	t.Helper()
	write := func(v T) []byte {
		var b bytes.Buffer
		if err := f.Write(&b, v); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		return b.Bytes()
	}
	first := write(v)
	line, whole := bytes.CutSuffix(first, []byte("\n"))
	if !whole || bytes.ContainsAny(line, "\n\r") {
		t.Fatalf("wrote %q, which is not one line", first)
	}
	again, err := f.Read(bytes.NewReader(first))
	if err != nil {
		t.Fatalf("what was written is refused: %v\n%s", err, line)
	}
	second := write(again)
	if !bytes.Equal(first, second) {
		t.Fatalf("written again it is\n%s\nand was\n%s", second, first)
	}
	if third, err := f.Read(bytes.NewReader(second)); err != nil || !reflect.DeepEqual(again, third) {
		t.Fatalf("read again (%v) it is\n%#v\nand was\n%#v", err, third, again)
	}
	return line
}

// Fuzz reads anything, starting from a file's cases: what is read is written
// and read the same, what is not is refused on one line.
func Fuzz[T any](f *testing.F, file string, fm Form[T]) {
	f.Helper()
	_, cases := load(f, file)
	for _, c := range cases {
		f.Add([]byte(c.input))
		if line, ok := strings.CutPrefix(c.outcome, "-> "); ok {
			f.Add([]byte(line))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		v, err := fm.Read(bytes.NewReader(in))
		if err != nil {
			checkRefusal(t, err)
			return
		}
		roundTrip(t, fm, v)
	})
}

// load reads a file's head and cases.
func load(t testing.TB, file string) (head string, cases []goldenCase) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	open := false
	for line := range strings.Lines(string(b)) {
		name, starts := strings.CutPrefix(line, "-- ")
		switch {
		case starts:
			if open && !*update {
				t.Fatalf("%s: case %q has no outcome", file, cases[len(cases)-1].name)
			}
			cases, open = append(cases, goldenCase{name: strings.TrimSpace(name)}), true
		case len(cases) == 0:
			head += line
		case strings.HasPrefix(line, "-> "), strings.HasPrefix(line, "!! "):
			cases[len(cases)-1].outcome, open = strings.TrimSuffix(line, "\n"), false
		case open:
			cases[len(cases)-1].input += line
		}
	}
	if open && !*update {
		t.Fatalf("%s: case %q has no outcome", file, cases[len(cases)-1].name)
	}
	return head, cases
}

// save writes a file anew.
func save(t *testing.T, file, head string, cases []goldenCase) {
	t.Helper()
	var b strings.Builder
	b.WriteString(head)
	for i, c := range cases {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString("-- " + c.name + "\n" + c.input + c.outcome + "\n")
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
