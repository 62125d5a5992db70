package probes

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A pipe with nobody at its other end, as a program may leave one where a file
// was, holds up no attempt.
func TestPipesAreNotWaitedFor(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[Kind]bool{ReadPath: false, OpenPath: true, WritePath: true, Plant: true} {
		result := make(chan Result, 1)
		go func() { result <- Try(Attempt{Kind: kind, Path: pipe}) }()
		select {
		case r := <-result:
			if r.Did != want || r.Untried {
				t.Errorf("%s: %+v", kind, r)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s waits", kind)
		}
	}
}
