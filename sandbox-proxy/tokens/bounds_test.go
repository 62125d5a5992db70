package tokens_test

import (
	"bytes"
	"runtime"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	measure "github.com/lnkhq/lnk-sandbox/measure-contract"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tokens"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What an answer holds is not kept: neither a long line, nor a long string, nor
// many members.
func TestMemoryIsBounded(t *testing.T) {
	piece := bytes.Repeat([]byte(`{"embedding":[0.123456,"`+strings.Repeat("x", 200)+`"]},`), 1000)
	for name, open := range map[string]string{"whole": `{"data":[`, "streamed": `data: {"data":[`} {
		a := tokens.Embeddings.Answer("")
		a.Write([]byte(open))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 200 {
			a.Write(piece)
		}
		a.Write([]byte(`"` + strings.Repeat("y", 1<<20) + `"`))
		runtime.ReadMemStats(&after)
		if grew := after.TotalAlloc - before.TotalAlloc; grew > 8<<20 {
			t.Errorf("%s: %d bytes were allocated for an answer of %d", name, grew, 200*len(piece))
		}
		a.Write([]byte(`],"usage":{"prompt_tokens":3,"total_tokens":3}}`))
		if got := said(a.End(true)); got != "input 3 output 0" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestDepthIsBounded(t *testing.T) {
	nested := func(n int) []byte {
		return []byte(`{"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `,"usage":{"input_tokens":1,"output_tokens":2}}`)
	}
	if got := read(tokens.Messages, "", true, nested(511)); got != "input 1 output 2" {
		t.Errorf("511 deep: %s", got)
	}
	if got := read(tokens.Messages, "", true, nested(512)); got != "unmetered" {
		t.Errorf("512 deep: %s", got)
	}
}

// Many goroutines, whose sum is what they say.
func TestLedger(t *testing.T) {
	var l tokens.Ledger
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			for range 100 {
				l.Answered(tokens.Usage{Input: 10, Output: 3, Cached: 4, Written: 2}, true)
				l.Answered(tokens.Usage{Input: 999}, false)
			}
		})
	}
	work.Wait()
	got := l.Tokens()
	want := measure.Tokens{Requests: 1600, Unmetered: 800, Input: 8000, Output: 2400, Cached: 3200, Written: 1600}
	if flat(got) != flat(want) {
		t.Errorf("%v, want %v", flat(got), flat(want))
	}
}

func flat(t measure.Tokens) [6]uint64 {
	return [6]uint64{t.Requests, t.Unmetered, t.Input, t.Output, t.Cached, t.Written}
}

// Where an answer is cut changes nothing, and what is counted is consistent.
func FuzzAnswer(f *testing.F) {
	for i, r := range readRecorded(f) {
		f.Add(uint8(r.form(f)), []byte(r.body), uint16(i*37), uint16(i*101))
	}
	f.Fuzz(func(t *testing.T, form uint8, body []byte, i, j uint16) {
		kind := tokens.Form(form%5 + 1)
		kept := bytes.Clone(body)
		a := kind.Answer("")
		a.Write(body)
		u, metered := a.End(true)
		one, two := int(i)%(len(body)+1), int(j)%(len(body)+1)
		one, two = min(one, two), max(one, two)
		if got := read(kind, "", true, body[:one], body[one:two], body[two:]); got != said(u, metered) {
			t.Errorf("cut at %d and %d: %s, whole: %s", one, two, got, said(u, metered))
		}
		if u.Cached+u.Written > u.Input {
			t.Errorf("%d cached and %d written of %d", u.Cached, u.Written, u.Input)
		}
		if !metered && flatUsage(u) != [4]uint64{} {
			t.Errorf("unmetered, and yet %v", flatUsage(u))
		}
		if cut := read(kind, "", false, body); metered && cut != "unmetered" && cut != said(u, true) {
			t.Errorf("cut at its end: %s, whole: %s", cut, said(u, true))
		}
		if !bytes.Equal(body, kept) {
			t.Error("the body was changed")
		}
	})
}

func flatUsage(u tokens.Usage) [4]uint64 { return [4]uint64{u.Input, u.Output, u.Cached, u.Written} }
