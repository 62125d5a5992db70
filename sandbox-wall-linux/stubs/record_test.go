package stubs

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func someEntries() []entry {
	return []entry{
		{Path: "/home/u/w/.git", In: Node{1, 2}},
		{Path: "/home/u/w/.git", In: Node{1, 2}, Node: Node{1, 3}},
		{Path: "/home/u/w/a \"b\"\n<é>/.envrc", In: Node{1, 9}, Node: Node{7, 8}, Unmarked: true},
		{Path: "/home/u/\xff/.git", In: Node{1, 9}, Node: Node{7, 8}},
		{Path: "/r/.git/commondir", In: Node{1, 2}, File: true, Text: ".\n"},
	}
}

func TestRecordReadsBack(t *testing.T) {
	all := someEntries()
	text, err := writeEntries(all)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(all[1:], readEntries(text)); diff != "" {
		t.Error(diff)
	}
	// Torn anywhere, what is whole before that is read.
	for n := range text {
		whole := strings.Count(string(text[:n]), "\n")
		want := all[:whole]
		if whole > 1 {
			want = all[1:whole]
		}
		got := readEntries(text[:n])
		if len(got) != len(want) || len(want) > 0 && cmp.Diff(want, got) != "" {
			t.Errorf("of %d bytes: %+v", n, got)
		}
	}
}

// FuzzRecord: whatever a record holds, what is read of it reads back, and names
// nothing that no run would have wanted.
func FuzzRecord(f *testing.F) {
	text, _ := writeEntries(someEntries())
	f.Add(text)
	f.Add([]byte(`{"path":"/a/../b"}` + "\n"))
	f.Add([]byte(`{"path":"/"}` + "\n" + `{"path":"/a"}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got := readEntries(text)
		for _, e := range got {
			if err := checkWants([]Want{{Path: e.Path}}); err != nil {
				t.Error(err)
			}
			if e.In == (Node{}) {
				t.Errorf("%q is said to be in no folder", e.Path)
			}
		}
		again, err := writeEntries(got)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, readEntries(again)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWantsThatAreRefused(t *testing.T) {
	for _, w := range []Want{
		{}, {Path: "/"}, {Path: "a"}, {Path: "/a/"}, {Path: "/a/../b"}, {Path: "/a//b"}, {Path: "/a\x00b"},
		{Path: "/a/b", Text: "for a folder"},
		{Path: "/a/b", File: true, Text: strings.Repeat("x", maxText+1)},
	} {
		var e *Error
		if err := checkWants([]Want{w}); !errors.As(err, &e) || e.Path != w.Path {
			t.Errorf("%q: %v", w.Path, err)
		}
	}
	if err := checkWants(make([]Want, maxWants+1)); err == nil {
		t.Error("too many names")
	}
}

func TestErrorsSayWhat(t *testing.T) {
	err := error(&Error{Path: "/w/.git", Kind: ErrCannotMake, Err: unix.EROFS})
	if !errors.Is(err, ErrCannotMake) || !errors.Is(err, unix.EROFS) || errors.Is(err, ErrMoved) {
		t.Errorf("%v", err)
	}
	if got := err.Error(); got != "stub /w/.git: cannot be made: read-only file system" {
		t.Error(got)
	}
}
