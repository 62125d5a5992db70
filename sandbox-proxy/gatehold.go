package proxy

import (
	"io"
	"os"
	"time"
)

// answering says whether a request is being answered.
func (g *gate) answering() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.busy
}

// ended is what a read gives when the program has closed its side. The server
// would take that for a program that has left and drop the answer under way,
// so it is told when the answer is over, or when nothing of it has moved for
// tunnelDrain.
func (g *gate) ended() error {
	g.moved()
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.busy {
		return io.EOF
	}
	alarm := time.AfterFunc(tunnelDrain, g.alarm)
	defer alarm.Stop()
	for g.busy && !g.aborted() && !g.attended {
		left := g.drains()
		if left <= 0 {
			return io.EOF
		}
		alarm.Reset(left)
		g.wake.Wait()
	}
	if g.aborted() && g.busy {
		return os.ErrDeadlineExceeded
	}
	return io.EOF
}

// leftover reads of a body that has been answered: the server does, to keep the
// connection, and would wait for all of it. What does not come soon is not waited
// for, and no request is read behind it.
func (g *gate) leftover(p []byte) (int, error) {
	g.mu.Lock()
	by := g.leftBy
	g.mu.Unlock()
	g.SetReadDeadline(by)
	if g.proxy.wait(g) {
		defer g.arrived()
	}
	return g.body(p)
}

// unwanted is that no more of the body is waited for.
func (g *gate) unwanted() {
	g.mu.Lock()
	g.leftBy = time.Now()
	g.mu.Unlock()
}

// attend has the request that is being answered end with its program: see
// [Attended].
func (g *gate) attend() {
	g.mu.Lock()
	g.attended = true
	g.wake.Broadcast()
	g.mu.Unlock()
}

func (g *gate) alarm() {
	g.mu.Lock()
	g.wake.Broadcast()
	g.mu.Unlock()
}

// hold is what a read gives of what is not HTTP: nothing, until the server
// stops reading.
func (g *gate) hold() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.aborted() && (g.busy || g.headError == nil) {
		g.wake.Wait()
	}
	if g.closed || g.headError != nil && !g.busy {
		return io.EOF
	}
	return os.ErrDeadlineExceeded
}

// aborted says whether reads are to stop: the gate is closed, or its deadline
// has passed. g.mu is held.
func (g *gate) aborted() bool {
	return g.closed || !g.deadline.IsZero() && !g.deadline.After(time.Now())
}
