package procs

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// window is how much processor time is looked at, at once.
	window = 25 * time.Millisecond

	// full is the part of a core that fills one thread.
	full = 0.95
)

// Fit sets GOMAXPROCS to one, and from now on to what this process needs: to
// all that Go would take while it fills one thread, and to one when it does not.
// It is called once. What decides costs nothing while the process stands still:
// processor time that was used wakes it. A GOMAXPROCS of the environment stays.
func Fit() error {
	if os.Getenv("GOMAXPROCS") != "" || runtime.GOMAXPROCS(0) == 1 {
		return nil
	}
	ticks, err := ticksOf(window)
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(1)
	go follow(ticks, lookNow, func(wide bool) {
		if wide {
			runtime.SetDefaultGOMAXPROCS()
		} else {
			runtime.GOMAXPROCS(1)
		}
	})
	return nil
}

// A look is how much processor time was used by when.
type look struct {
	used time.Duration
	at   time.Time
}

// lookNow looks.
func lookNow() look { return look{spent(), time.Now()} }

// follow looks at each tick what was used since the last, and sets what changes.
func follow(ticks <-chan os.Signal, next func() look, set func(wide bool)) {
	wide := false
	last := next()
	for range ticks {
		now := next()
		if to := fills(now.used-last.used, now.at.Sub(last.at)); to != wide {
			wide = to
			set(wide)
		}
		last = now
	}
}

// fills says whether so much processor time in so much time fills one thread.
func fills(used, took time.Duration) bool { return float64(used) >= full*float64(took) }

// ticksOf gives a tick each time that this process has used so much processor
// time (timer_create(2) with CLOCK_PROCESS_CPUTIME_ID). It is for the life of
// the process: a program that is started in its place, or by it, has no such
// timer. The signal is SIGVTALRM, which nothing else here uses.
func ticksOf(every time.Duration) (<-chan os.Signal, error) {
	ticks := make(chan os.Signal, 1)
	signal.Notify(ticks, unix.SIGVTALRM)
	// struct sigevent (sigevent(3type)): SIGEV_SIGNAL is 0.
	event := struct {
		value  uint64
		signal int32
		notify int32
		_      [48]byte
	}{signal: int32(unix.SIGVTALRM)}
	var id int32
	_, _, no := unix.Syscall(unix.SYS_TIMER_CREATE, unix.CLOCK_PROCESS_CPUTIME_ID, uintptr(unsafe.Pointer(&event)), uintptr(unsafe.Pointer(&id)))
	if no != 0 {
		return nil, fmt.Errorf("timer_create: %w", no)
	}
	// struct itimerspec: the interval, and the first.
	each := unix.NsecToTimespec(every.Nanoseconds())
	times := [2]unix.Timespec{each, each}
	_, _, no = unix.Syscall6(unix.SYS_TIMER_SETTIME, uintptr(id), 0, uintptr(unsafe.Pointer(&times)), 0, 0, 0)
	if no != 0 {
		return nil, fmt.Errorf("timer_settime: %w", no)
	}
	return ticks, nil
}

// spent is the processor time that this process has used.
func spent() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
