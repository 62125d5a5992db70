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
