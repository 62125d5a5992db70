package written

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReadsBack(t *testing.T) {
	all, more := Folders(nil).with([]string{"/w/a b\n\"é", "/w/\xff", "/v"}, time.Unix(7, 5))
	if !more || len(all) != 3 {
		t.Fatalf("%+v", all)
	}
	text, err := all.text()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(text)
	if diff := cmp.Diff(all, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, torn := range []string{"", text[:len(text)-4], "x\n", `{"path":"a","since":1}` + "\n", `{"path":"/a/../b","since":1}` + "\n", `{"PATH":"/a"}` + "\n"} {
		if _, err := Read(torn); err == nil {
			t.Errorf("%q is read", torn)
		}
	}
}

func TestWith(t *testing.T) {
	first, _ := Folders(nil).with([]string{"/w/sub", "/w"}, time.Unix(1, 0))
	if diff := cmp.Diff(Folders{{Path: "/w", Since: 1e9}}, first); diff != "" {
		t.Error(diff)
	}
	if again, more := first.with([]string{"/w/x", "/w"}, time.Unix(9, 0)); more || len(again) != 1 {
		t.Errorf("%+v", again)
	}
	if wider, more := first.with([]string{"/"}, time.Unix(9, 0)); !more || len(wider) != 2 {
		t.Errorf("%+v", wider)
	}
}

func TestSince(t *testing.T) {
	all := Folders{{Path: "/w", Since: 100e9}, {Path: "/w/deep", Since: 10e9}}
	for _, c := range []struct {
		at      string
		changed int64
		in      string
	}{
		{"/w/l", 100e9, "/w"}, {"/w/l", 99e9, "/w"}, {"/w/l", 50e9, ""}, {"/w/deep/l", 50e9, "/w/deep"},
		{"/w", 200e9, ""}, {"/wx/l", 200e9, ""}, {"/v/l", 200e9, ""},
	} {
		if got, may := all.Since(c.at, c.changed); got != c.in || may != (c.in != "") {
			t.Errorf("%s at %d: %q, want %q", c.at, c.changed, got, c.in)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"path":"/a","since":1}` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := Read(text)
		if err != nil {
			return
		}
		again, err := all.text()
		if err != nil {
			return // longer than a record may be
		}
		if got, err := Read(again); err != nil || !cmp.Equal(all, got) {
			t.Errorf("%v, %v", got, err)
		}
	})
}
