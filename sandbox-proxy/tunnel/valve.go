package tunnel

import (
	"sync"
	"sync/atomic"
	"time"
)

// epoch is what moments are counted from.
var epoch = time.Now()

// A Valve pauses tunnels: while it is shut nothing is read and nothing is
// written, and the clocks stand still. The zero Valve is open.
type Valve struct {
	closed atomic.Bool
	since  atomic.Int64 // when it was opened last, after epoch

	mu     sync.Mutex
	opened chan struct{} // closed when the valve opens; nil while it is open
}

// Shut pauses. A move that is under way ends first: at most one buffer.
func (v *Valve) Shut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.opened == nil {
		v.opened = make(chan struct{})
		v.closed.Store(true)
	}
}

// Open goes on.
func (v *Valve) Open() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.opened != nil {
		// Told first: a clock that finds the valve open knows since when.
		v.since.Store(int64(time.Since(epoch)))
		close(v.opened)
		v.opened = nil
		v.closed.Store(false)
	}
}

// Wait waits until the valve is open, or until stop is closed, and says
// whether it is open.
func (v *Valve) Wait(stop <-chan struct{}) bool { return !v.shut() || v.wait(stop) }

func (v *Valve) shut() bool { return v != nil && v.closed.Load() }

func (v *Valve) wait(stop <-chan struct{}) bool {
	for {
		v.mu.Lock()
		opened := v.opened
		v.mu.Unlock()
		if opened == nil {
			return true
		}
		select {
		case <-opened:
		case <-stop:
			return false
		}
	}
}

// still gives the last moment, after epoch, that was in a pause; zero when
// there was none.
func (v *Valve) still() time.Duration {
	switch {
	case v == nil:
		return 0
	case v.closed.Load():
		return time.Since(epoch)
	}
	return time.Duration(v.since.Load())
}
