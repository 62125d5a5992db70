//go:build linux

package inside

import (
	"os/exec"
	"runtime"
	"testing"
)

// BenchmarkStart is a whole start, and beside it the same process with nothing
// made, which is what one execution of it costs by itself.
func BenchmarkStart(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b.Run("process alone", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command(self, "probe").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("network", func(b *testing.B) {
		want := Want{ProxyPort: 3128}
		for b.Loop() {
			cmd := exec.Command(self, "stage")
			h, err := Prepare(cmd, want)
			if err != nil {
				b.Fatal(err)
			}
			cmd.Args = append(append(cmd.Args, want.Flags(h.FD())...), "/bin/true")
			if err := h.Start(); err != nil {
				b.Fatal(err)
			}
			l, err := h.Receive(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if err := h.Go(); err != nil {
				b.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				b.Fatal(err)
			}
			l.Close()
		}
	})
}
