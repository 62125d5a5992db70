package measure_test

import (
	"math"
	"strings"
	"testing"

	measure "github.com/lnkhq/lnk-sandbox/measure-contract"
)

func TestRecordName(t *testing.T) {
	name := measure.RecordName(812, "4711xabcdef01")
	if name != "812-4711xabcdef01.json" {
		t.Fatalf("name %q", name)
	}
	pid, start, ok := measure.ParseRecordName(name)
	if pid != 812 || start != "4711xabcdef01" || !ok {
		t.Errorf("read %d %q %v", pid, start, ok)
	}
}

func TestParseRecordNameRefuses(t *testing.T) {
	for _, name := range []string{
		"", ".json", "812.json", "812-.json", "-1.json", "0-1.json", "-5-1.json", "+8-1.json", "08-1.json",
		"812-1", "812-1.jsonl", "812-1.json.tmp", ".812-1.json", "812-a/b.json", "812-a b.json", "812-..json",
		"99999999999999999999-1.json", "812-" + strings.Repeat("1", 65) + ".json", "x-1.json", "8é-1.json", "812-é.json",
	} {
		if pid, start, ok := measure.ParseRecordName(name); ok {
			t.Errorf("%q read as %d %q", name, pid, start)
		}
	}
}

func FuzzParseRecordName(f *testing.F) {
	f.Add("812-4711.json")
	f.Add("0-x.json")
	f.Fuzz(func(t *testing.T, name string) {
		pid, start, ok := measure.ParseRecordName(name)
		if ok && (pid < 1 || measure.RecordName(pid, start) != name || strings.ContainsAny(name, "/\\\x00\n ")) {
			t.Errorf("%q read as %d %q", name, pid, start)
		}
	})
}

func TestTokensAdd(t *testing.T) {
	sum := measure.Tokens{Requests: 1, Unmetered: 2, Input: 3, Output: 4, Cached: 5, Written: math.MaxUint64 - 1}
	sum.Add(measure.Tokens{Requests: 10, Unmetered: 20, Input: 30, Output: 40, Cached: 50, Written: 60})
	got := [6]uint64{sum.Requests, sum.Unmetered, sum.Input, sum.Output, sum.Cached, sum.Written}
	if want := [6]uint64{11, 22, 33, 44, 55, math.MaxUint64}; got != want {
		t.Errorf("sum %v, want %v", got, want)
	}
}
