package probes

import (
	"bytes"
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		want    Want
		result  Result
		missing string
		says    Word
	}{
		{Closes, Result{}, "", Blocked},
		{Closes, Result{Did: true}, "", Leaked},
		{Closes, Result{Untried: true}, "", Missed},
		{Closes, Result{Did: true}, "nothing to try it on", Missed},
		{Opens, Result{Did: true}, "", Allowed},
		{Opens, Result{}, "", Failed},
		{Opens, Result{Untried: true}, "", Failed},
		{Opens, Result{}, "nothing listens there", Failed},
		{Leaves, Result{Did: true}, "", Open},
		{Leaves, Result{}, "", Failed},
		{Leaves, Result{Untried: true}, "", Missed},
	} {
		if l := (Probe{Name: "x", Want: c.want, Missing: c.missing}).Judge(c.result); l.Word != c.says {
			t.Errorf("%v %+v %q: %s, want %s", c.want, c.result, c.missing, l.Word, c.says)
		}
	}
	if got := (Line{Blocked, "write /usr", "read-only"}).String(); got != "blocked write /usr: read-only" {
		t.Error(got)
	}
}

// What is asked is answered in order, and what cannot be tried is not asked.
func TestAskAndAnswer(t *testing.T) {
	dir := t.TempDir()
	all := []Probe{
		{Name: "a", Want: Opens, Attempt: Attempt{Kind: WritePath, Path: dir}},
		{Name: "b", Missing: "not here"},
		{Name: "c", Attempt: Attempt{Kind: ReadPath, Path: dir + "/none"}},
		{Name: "d", Attempt: Attempt{Kind: "another version's"}},
	}
	var in, out bytes.Buffer
	if err := Ask(&in, all); err != nil {
		t.Fatal(err)
	}
	if err := Inside(&in, &out); err != nil {
		t.Fatal(err)
	}
	said := out.String()
	lines, err := Answers(&out, all)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range lines {
		got = append(got, string(l.Word)+" "+l.Name)
	}
	if s := strings.Join(got, ", "); s != "allowed a, missed b, blocked c, missed d" {
		t.Error(s)
	}
	if _, err := Answers(strings.NewReader(said), append(all, all...)); err == nil {
		t.Error("fewer answers than were asked for are taken")
	}
	for _, no := range []string{"", "{}", "[1]", `[{"Did":true}`} {
		if _, err := Answers(strings.NewReader(no), all); err == nil {
			t.Errorf("%q is taken for an answer", no)
		}
		if err := Inside(strings.NewReader(no), &out); err == nil {
			t.Errorf("%q is taken for attempts", no)
		}
	}
}
