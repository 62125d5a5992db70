package launch

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A sandbox whose memory is bounded shares none with the process that made it:
// the kernel would end both for want of it.
func TestApart(t *testing.T) {
	o := sh("echo ready; exec sleep 600")
	o.Apart = true
	r := begin(t, o)
	first := firstOf(t, r.Process.Pid)
	const memory = 1 // KCMP_VM (kcmp(2))
	differs, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(r.Process.Pid), uintptr(first), memory, 0, 0, 0)
	if errno != 0 || differs == 0 {
		t.Errorf("kcmp: %d, %v: it shares its memory", differs, errno)
	}
}
