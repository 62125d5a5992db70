package relay

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tunnel"
)

const (
	// maxCalls bounds the connections of one listener; one more is reset.
	maxCalls = 512
	// dialTime is for the other side.
	dialTime = 15 * time.Second
	// Silence that is allowed, as in a proxy's tunnels.
	idleTime  = time.Hour
	drainTime = 2 * time.Minute
	// acceptWait and acceptWaitMost bound the waits after a failed accept.
	acceptWait     = 5 * time.Millisecond
	acceptWaitMost = time.Second
)

// A Dial connects to the other side.
type Dial func(ctx context.Context) (net.Conn, error)

// A Relay is any number of listeners that are carried.
type Relay struct {
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex
	closed bool
	open   map[closer]bool
}

type closer interface{ Close() error }

// New makes a relay. It carries nothing yet.
func New() *Relay {
	r := &Relay{open: map[closer]bool{}}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Close ends everything: listeners, connections and what waits.
func (r *Relay) Close() error {
	r.mu.Lock()
	r.closed = true
	r.cancel()
	all := make([]closer, 0, len(r.open))
	for c := range r.open {
		all = append(all, c)
	}
	r.mu.Unlock()
	for _, c := range all {
		c.Close()
	}
	r.work.Wait()
	return nil
}

// add notes what Close ends; it is false, and the thing is closed, after Close.
func (r *Relay) add(c closer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		c.Close()
		return false
	}
	r.open[c] = true
	r.work.Add(1)
	return true
}

func (r *Relay) drop(c closer) {
	r.mu.Lock()
	delete(r.open, c)
	r.mu.Unlock()
	r.work.Done()
}

// Carry joins every connection of a listener to one of dial's, until the relay
// or the listener is closed. It owns the listener.
func (r *Relay) Carry(l net.Listener, dial Dial) {
	r.accept(l, func(c net.Conn) {
		ctx, cancel := context.WithTimeout(r.ctx, dialTime)
		defer cancel()
		far, err := dial(ctx)
		if err != nil {
			reset(c)
			return
		}
		r.join(c, far)
	})
}

// Refuse resets every connection of a listener, at once.
func (r *Relay) Refuse(l net.Listener) { r.accept(l, reset) }

// accept serves a listener's connections, a bounded number at once.
func (r *Relay) accept(l net.Listener, serve func(net.Conn)) {
	if !r.add(l) {
		return
	}
	defer r.drop(l)
	defer l.Close()
	places := make(chan struct{}, maxCalls)
	for wait := acceptWait; ; {
		c, err := l.Accept()
		switch {
		case err == nil:
			wait = acceptWait
			select {
			case places <- struct{}{}:
				go func() {
					defer func() { <-places }()
					if r.add(c) {
						defer r.drop(c)
						serve(c)
					}
				}()
			default:
				reset(c)
			}
			continue
		case r.ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return
		}
		select {
		case <-time.After(wait):
			wait = min(2*wait, acceptWaitMost)
		case <-r.ctx.Done():
			return
		}
	}
}

// join moves bytes between two connections until both ways have ended. It owns
// both.
func (r *Relay) join(near, far net.Conn) {
	t := &tunnel.Tunnel{Near: near, Far: far, Idle: idleTime, Drain: drainTime}
	if !r.add(cut{t}) {
		return
	}
	t.Run()
	r.drop(cut{t})
}

// cut ends a tunnel as Close ends a listener.
type cut struct{ t *tunnel.Tunnel }

func (c cut) Close() error {
	c.t.Cut()
	return nil
}

func reset(c net.Conn) {
	if tcp, ok := c.(interface{ SetLinger(int) error }); ok {
		tcp.SetLinger(0)
	}
	c.Close()
}
