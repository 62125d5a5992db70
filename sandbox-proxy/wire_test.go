package proxy

import (
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

type cuts int

func (c *cuts) Cut() { *c++ }

// A call that was let through just before a stop, and is connected after it,
// is cut: between the two nothing holds it.
func TestAddAfterStop(t *testing.T) {
	j, err := judge.New(judge.Rules{}, judge.Machine())
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(Config{Sandbox: "web", Judge: j})
	if err != nil {
		t.Fatal(err)
	}
	before, after := new(cuts), new(cuts)
	if !p.add(before) {
		t.Error("a call is not taken")
	}
	p.Stop("")
	if p.add(after) || *before != 1 || *after != 1 {
		t.Errorf("cut %d and %d times", *before, *after)
	}
	p.Resume()
	p.Pause("")
	if !p.add(new(cuts)) {
		t.Error("a pause cuts")
	}
	p.Close()
	if p.add(after) {
		t.Error("a closed proxy takes a call")
	}
}

// A call that a stop ends says so; one that ended before it, was refused, or was
// open at the end of the proxy says what it did before.
func TestCutIsTold(t *testing.T) {
	j, err := judge.New(judge.Rules{}, judge.Machine())
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(Config{Sandbox: "web", Judge: j})
	if err != nil {
		t.Fatal(err)
	}
	open := p.dialContext()
	told := func(r Record) judge.Reason { r.cut(p, open); return r.Reason }
	if got := told(Record{Allowed: true}); got != "" {
		t.Errorf("an open wire cut it: %s", got)
	}
	p.Stop("")
	for name, c := range map[string]struct {
		r    Record
		want judge.Reason
	}{
		"open":              {Record{Allowed: true}, Stopped},
		"being connected":   {Record{Allowed: true, Reason: Failed}, Stopped},
		"refused":           {Record{Reason: judge.Malformed}, judge.Malformed},
		"turned away later": {Record{Allowed: true, Reason: Protocol}, Protocol},
	} {
		if got := told(c.r); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	p.Resume()
	open = p.dialContext()
	p.Close()
	if got := told(Record{Allowed: true}); got != "" {
		t.Errorf("the end of the proxy is told as %s", got)
	}
}
