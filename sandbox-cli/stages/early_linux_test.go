package stages

import (
	"testing"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// What the kernel kills for want of memory it kills with all that share it.
func TestBoundedMemoryIsApart(t *testing.T) {
	for memory, want := range map[int64]bool{0: false, 1 << 30: true} {
		f := wallFlags{limits: client.Limits{Memory: memory}}
		if got := f.early().Apart; got != want {
			t.Errorf("memory %d: apart is %v", memory, got)
		}
	}
}
