package procs

import (
	"os"
	"runtime"
	"slices"
	"testing"
	"time"
)

func TestFills(t *testing.T) {
	for _, c := range []struct {
		name string
		took time.Duration // for a window of processor time
		want bool
	}{
		{"many threads, all full", window / 8, true},
		{"many, one of them full", window, true},
		{"one, nearly full", window * 100 / 96, true},
		{"one, not full", window * 100 / 94, false},
		{"one, after a long rest", time.Hour, false},
	} {
		if got := fills(window, c.took); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// timers are those that this process has: they are for its life, and a tick is told
// to all who wait for one.
var timers int

// What is used comes as ticks, as many as it was; time that passes gives none.
func TestTicks(t *testing.T) {
	const every = 5 * time.Millisecond
	before := spent()
	ticks, err := ticksOf(every)
	if err != nil {
		t.Fatal(err)
	}
	timers++
	burn(t, func() bool { return len(ticks) > 0 })
	n := 0
	for end := time.Now().Add(20 * every); time.Now().Before(end); time.Sleep(time.Millisecond) {
		select {
		case <-ticks:
			n++
		default:
		}
	}
	if used := spent() - before; n == 0 || n > timers*int(used/every+1) {
		t.Errorf("%d ticks of %v in %v of processor time", n, every, used)
	}
}

// It is set when that changes, and not otherwise: by what was used since the
// last look.
func TestFollow(t *testing.T) {
	at := time.Now()
	used := time.Duration(0)
	looks := []look{{used, at}}
	for _, took := range []time.Duration{time.Hour, window, window / 2, window, time.Hour, time.Hour, window} {
		used, at = used+window, at.Add(took)
		looks = append(looks, look{used, at})
	}
	ticks := make(chan os.Signal, len(looks))
	for range looks[1:] {
		ticks <- nil
	}
	close(ticks)
	var got []bool
	i := -1
	follow(ticks, func() look { i++; return looks[i] }, func(wide bool) { got = append(got, wide) })
	if want := []bool{true, false, true}; !slices.Equal(got, want) {
		t.Errorf("set to %v, want %v", got, want)
	}
}

func TestFit(t *testing.T) {
	if runtime.NumCPU() == 1 {
		return // one it is
	}
	t.Setenv("GOMAXPROCS", "2")
	before := runtime.GOMAXPROCS(2)
	defer runtime.GOMAXPROCS(before)
	if err := Fit(); err != nil || runtime.GOMAXPROCS(0) != 2 {
		t.Fatalf("%v; GOMAXPROCS of the environment is now %d", err, runtime.GOMAXPROCS(0))
	}
	os.Unsetenv("GOMAXPROCS")
	timers++
	if err := Fit(); err != nil || runtime.GOMAXPROCS(0) != 1 {
		t.Fatalf("%v; GOMAXPROCS is %d, want 1", err, runtime.GOMAXPROCS(0))
	}
}

// burn uses processor time until it is enough.
func burn(t *testing.T, enough func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !enough(); {
		if time.Now().After(end) {
			t.Fatal("nothing came in a minute of work")
		}
		spend(time.Millisecond)
	}
}

// spend uses about so much processor time.
func spend(d time.Duration) {
	for end := spent() + d; spent() < end; {
		slices.Sort([]int{3, 1, 2})
	}
}
