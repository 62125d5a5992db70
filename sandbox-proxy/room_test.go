package proxy

import "testing"

// What a proxy may hold fits into the descriptors there are, however few.
func TestRoom(t *testing.T) {
	for _, n := range []uint64{0, 16, 64, 256, 1024, 4096, 20000, 1 << 20, 1<<64 - 1} {
		r := roomIn(n)
		if r.calls < 1 || r.waiting < 1 || r.idle < 1 || r.calls > maxCalls || r.waiting > maxWaiting || r.idle > idleAll {
			t.Errorf("%d: %+v", n, r)
		}
		if used := uint64(2*r.calls + r.waiting + r.idle); n >= 64 && used > n*3/4 {
			t.Errorf("%d: %+v takes %d", n, r, used)
		}
	}
	if r := roomIn(20000); r.calls != maxCalls || r.waiting != maxWaiting || r.idle != idleAll {
		t.Errorf("with enough of them: %+v", r)
	}
	if descriptors() == 0 {
		t.Error("this process has none")
	}
}
