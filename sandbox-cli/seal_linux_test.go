package cli

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

func TestSeal(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
	dumpable := func() int {
		n, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
	var r routed
	if err := r.seal(); err != nil || dumpable() != 1 {
		t.Errorf("a proxy without routes: %v, %d", err, dumpable())
	}
	r.mounts.Routes = []route.Route{{Name: "a", Kind: route.Open{}}}
	if err := r.seal(); err != nil || dumpable() != 0 {
		t.Errorf("%v, %d", err, dumpable())
	}
}
