package tool

import (
	"bytes"
	"encoding/base64"
	"runtime"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// An answer is JSON whatever a tool has written, wherever it is cut to be
// escaped.
func TestAnswerIsJSON(t *testing.T) {
	var r room
	long := strings.Repeat("a\x00\"\\/<é字😀\u2028\n", quotedBytes/7)
	for _, c := range []struct{ out, errs string }{
		{"", ""}, {"a", "b"}, {long, long[1:]}, {long[3:], "\xff" + long}, {strings.Repeat("\x80", 100001), "\xc3"},
	} {
		a := &jsonAnswer{status: 137, signal: "SIGKILL", out: kept{room: &r}, errs: kept{room: &r}}
		a.out.Write([]byte(c.out))
		a.errs.Write([]byte(c.errs))
		var b bytes.Buffer
		if err := a.write(&b); err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatalf("%v: %.200s", err, b.Bytes())
		}
		text := func(name string) string {
			plain, packed := got[name].(string), got[name+"_base64"]
			if packed == nil {
				return plain
			}
			raw, err := base64.StdEncoding.DecodeString(packed.(string))
			if err != nil || plain != "" {
				t.Errorf("%s: %v, beside %q", name, err, plain)
			}
			return string(raw)
		}
		if text("stdout") != c.out || text("stderr") != c.errs || got["status"] != 137.0 || got["signal"] != "SIGKILL" || got["truncated"] != nil {
			t.Errorf("%.200s is not %.50q and %.50q", b.Bytes(), c.out, c.errs)
		}
		a.drop()
	}
	if left := r.taken.Load(); left != 0 {
		t.Errorf("%d bytes of room are taken for good", left)
	}
}

// All answers together hold no more than there is room for, and writing one
// takes hardly any more.
func TestAnswersAreBounded(t *testing.T) {
	var r room
	piece := bytes.Repeat([]byte{1}, 1<<20) // six bytes each in JSON
	var all []*jsonAnswer
	held := 0
	for range maxCalls {
		a := &jsonAnswer{out: kept{room: &r}, errs: kept{room: &r}}
		for range maxAnswer>>20 + 1 {
			a.out.Write(piece)
			a.errs.Write(piece)
		}
		if len(a.out.b) > maxAnswer || !a.out.more {
			t.Errorf("%d bytes are kept, and more: %v", len(a.out.b), a.out.more)
		}
		held += len(a.out.b) + len(a.errs.b)
		all = append(all, a)
	}
	if held != maxAnswers {
		t.Errorf("%d bytes are held, want %d", held, maxAnswers)
	}
	one := &jsonAnswer{out: kept{room: &r, b: piece}, errs: kept{room: &r}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	wrote := new(counter)
	if err := one.write(wrote); err != nil || int(*wrote) < 6*len(piece) {
		t.Errorf("%d bytes written, %v", *wrote, err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > uint64(len(piece)) {
		t.Errorf("writing an answer took %d bytes", took)
	}
	for _, a := range all {
		a.drop()
	}
	if n := r.take(100); n != 100 || r.taken.Load() != 100 {
		t.Errorf("room for %d, %d taken", n, r.taken.Load())
	}
}

type counter int

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }
