package tunnel

import (
	"cmp"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Why a tunnel ended before both ways had.
var (
	// ErrIdle is silence for too long.
	ErrIdle = errors.New("nothing moved for too long")
	// ErrCut is [Tunnel.Cut].
	ErrCut = errors.New("cut")
)

// A Tunnel is two connections and what is known of them. It owns both: they
// are closed when Run returns, or by Cut.
type Tunnel struct {
	_ [0]func()

	// Near is the program's side, Far the other.
	Near, Far net.Conn
	// FromNear and FromFar are bytes that were read from them already. They
	// are delivered first.
	FromNear, FromFar []byte
	// Meter counts what is delivered; nil counts nothing.
	Meter *Meter
	// Valve pauses the tunnel; nil never does.
	Valve *Valve
	// Watch, where set, is given what Near says, in pieces and each before it is
	// delivered, FromNear first, for as long as it says so. Its error ends the
	// tunnel, and the piece is not delivered.
	Watch func([]byte) (more bool, err error)
	// Idle and Drain bound silence, before and after one way has ended. Zero
	// is no bound.
	Idle, Drain time.Duration

	start   sync.Once
	stopped chan struct{}
	why     atomic.Pointer[error]
	ended   atomic.Int32 // ways that ended well
	over    atomic.Int32 // ways that are over
	clock   clock
}

// Run moves bytes until both ways have ended, then closes both connections.
// It returns nil when both ended well, and otherwise the first thing that went
// wrong. A tunnel is run or started, once.
func (t *Tunnel) Run() error {
	done := make(chan error, 1)
	t.Start(func(err error) { done <- err })
	return <-done
}

// Start does what Run does in goroutines of the tunnel's own, the last of which
// calls done with what Run returns. Two small stacks are all that a tunnel then
// keeps: who called may be deep in his.
func (t *Tunnel) Start(done func(error)) {
	t.init()
	t.Near.SetDeadline(time.Time{})
	t.Far.SetDeadline(time.Time{})
	t.clock.start(t)
	go func() {
		t.move(&way{t: t, dst: t.Far, src: t.Near, count: (*Meter).addUp, watch: t.Watch}, t.FromNear)
		t.end(done)
	}()
	go func() {
		t.move(&way{t: t, dst: t.Near, src: t.Far, count: (*Meter).addDown}, t.FromFar)
		t.end(done)
	}()
}

// end is called at the end of either way.
func (t *Tunnel) end(done func(error)) {
	if t.over.Add(1) < 2 {
		return
	}
	t.clock.stop()
	t.Near.Close()
	t.Far.Close()
	var err error
	if why := t.why.Load(); why != nil {
		err = *why
	}
	done(err)
}

// Cut ends the tunnel at once: both sides see a reset. It may be called at any
// time, more than once, also before Run, which then returns at once.
func (t *Tunnel) Cut() { t.fail(ErrCut) }

func (t *Tunnel) init() { t.start.Do(func() { t.stopped = make(chan struct{}) }) }

// move carries one way to its end, and the end to the other side.
func (t *Tunnel) move(w *way, early []byte) {
	err := w.see(early)
	if err == nil {
		err = w.deliver(early)
	}
	if err == nil {
		err = w.run()
	}
	if err != nil {
		t.fail(err)
		return
	}
	if t.ended.Add(1) == 2 {
		return // both ways have ended: closing says so
	}
	t.clock.drain(t.Drain)
	half, ok := w.dst.(interface{ CloseWrite() error })
	if !ok {
		t.fail(nil) // an end that cannot be passed on alone ends both ways
		return
	}
	if err := half.CloseWrite(); err != nil {
		t.fail(err)
	}
}

// fail ends both ways at once. The first reason stays.
func (t *Tunnel) fail(why error) {
	t.init()
	if !t.why.CompareAndSwap(nil, &why) {
		return
	}
	close(t.stopped)
	for _, c := range []net.Conn{t.Near, t.Far} {
		if tcp, ok := c.(interface{ SetLinger(int) error }); ok && why != nil {
			tcp.SetLinger(0) // what was cut must not look as if it ended
		}
		c.Close()
	}
}

// A way is one direction.
type way struct {
	t        *Tunnel
	dst, src net.Conn
	count    func(*Meter, int)
	watch    func([]byte) (bool, error)
}

// see has what was read looked at, before it is delivered.
func (w *way) see(b []byte) error {
	if w.watch == nil || len(b) == 0 {
		return nil
	}
	more, err := w.watch(b)
	if !more {
		w.watch = nil
	}
	return err
}

// moved notes that n bytes were delivered.
func (w *way) moved(n int) {
	w.t.clock.touch()
	if w.t.Meter != nil {
		w.count(w.t.Meter, n)
	}
}

// pass waits while the tunnel is paused.
func (w *way) pass() error {
	if w.t.Valve.shut() && !w.t.Valve.wait(w.t.stopped) {
		return ErrCut
	}
	return nil
}

// deliver writes bytes that are at hand.
func (w *way) deliver(b []byte) error {
	for len(b) > 0 {
		if err := w.pass(); err != nil {
			return err
		}
		n, err := w.dst.Write(b[:min(len(b), bufferSize)])
		w.moved(n)
		b = b[n:]
		if err != nil {
			return err
		}
	}
	return nil
}

// A clock ends a tunnel in which nothing moves. One timer a tunnel, which is
// not touched when bytes move.
type clock struct {
	last atomic.Int64 // when bytes moved last, after epoch

	mu    sync.Mutex
	limit time.Duration
	timer *time.Timer
}

func (c *clock) touch() { c.last.Store(int64(time.Since(epoch))) }

func (c *clock) start(t *Tunnel) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = t.Idle
	c.touch()
	if first := cmp.Or(t.Idle, t.Drain); first > 0 {
		c.timer = time.AfterFunc(first, func() { c.check(t) })
	}
}

func (c *clock) check(t *Tunnel) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.limit == 0 || c.timer == nil {
		return
	}
	// A pause is no silence.
	last := max(time.Duration(c.last.Load()), t.Valve.still())
	if left := c.limit - (time.Since(epoch) - last); left > 0 {
		c.timer.Reset(left)
		return
	}
	go t.fail(ErrIdle)
}

// drain sets the bound for the way that is left.
func (c *clock) drain(limit time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer == nil || limit == 0 {
		return
	}
	c.touch()
	c.limit = limit
	c.timer.Reset(limit)
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
}
