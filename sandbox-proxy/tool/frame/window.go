package frame

import (
	"errors"
	"io"
	"sync"
)

// WindowSize is how many bytes of one stream may be on the way: sent, and not
// yet taken by whoever they are for.
const WindowSize = 256 << 10

// ErrWindow is a stream of which more was sent than its window holds.
var ErrWindow = errors.New("more of a stream than its window holds")

// A Window is the sender's side of a stream: how much may still be sent.
type Window struct {
	mu     sync.Mutex
	wake   *sync.Cond
	left   int
	closed bool
}

// NewWindow is a whole window.
func NewWindow() *Window {
	w := &Window{left: WindowSize}
	w.wake = sync.NewCond(&w.mu)
	return w
}

// Take waits until something may be sent, and takes at most most of it. It
// gives 0 once the window is closed.
func (w *Window) Take(most int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.left == 0 && !w.closed {
		w.wake.Wait()
	}
	if w.closed {
		return 0
	}
	n := min(most, w.left)
	w.left -= n
	return n
}

// Give gives back what was taken at the other end, or not sent after all.
func (w *Window) Give(n int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n < 0 || w.left+n > WindowSize {
		return ErrWindow
	}
	w.left += n
	w.wake.Broadcast()
	return nil
}

// Close ends every wait: nothing is sent any more.
func (w *Window) Close() {
	w.mu.Lock()
	w.closed = true
	w.wake.Broadcast()
	w.mu.Unlock()
}

// A Queue is the receiver's side of a stream: what has come and is not yet
// taken, a [WindowSize] at most.
type Queue struct {
	mu    sync.Mutex
	wake  *sync.Cond
	parts [][]byte
	held  int // put, and not yet credited
	ended bool
	gone  bool
	done  chan struct{}
}

// NewQueue is an empty queue.
func NewQueue() *Queue {
	q := &Queue{done: make(chan struct{})}
	q.wake = sync.NewCond(&q.mu)
	return q
}

// Put adds a part, which is copied. It never waits. What comes for a queue that
// nobody takes from is dropped.
func (q *Queue) Put(part []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.ended:
		return errors.New("more of a stream that has ended")
	case q.held+len(part) > WindowSize:
		return ErrWindow
	case len(part) == 0:
		return nil
	}
	q.held += len(part)
	if q.gone {
		return nil
	}
	// Small parts are put together, so that a window of single bytes is no
	// more than a window.
	if last := len(q.parts) - 1; last >= 0 && len(q.parts[last])+len(part) <= MaxPart {
		q.parts[last] = append(q.parts[last], part...)
	} else {
		q.parts = append(q.parts, append([]byte(nil), part...))
	}
	q.wake.Broadcast()
	return nil
}

// End is that nothing more comes.
func (q *Queue) End() {
	q.mu.Lock()
	q.ended = true
	q.wake.Broadcast()
	q.mu.Unlock()
}

// Drop is that nobody takes any more: what waits is thrown away.
func (q *Queue) Drop() {
	q.mu.Lock()
	q.gone, q.parts = true, nil
	q.wake.Broadcast()
	q.mu.Unlock()
}

// Take waits for a part. At the end, or once dropped, it gives io.EOF. The
// sender is given credit with [Queue.Took].
func (q *Queue) Take() ([]byte, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.parts) == 0 && !q.ended && !q.gone {
		q.wake.Wait()
	}
	if len(q.parts) == 0 {
		return nil, io.EOF
	}
	part := q.parts[0]
	q.parts = q.parts[1:]
	return part, nil
}

// Took makes room for as much as was taken: the sender is told of it.
func (q *Queue) Took(n int) {
	q.mu.Lock()
	q.held -= n
	q.mu.Unlock()
}

// Finish says that whoever takes from the queue has done all it will.
func (q *Queue) Finish() { close(q.done) }

// Done is closed by [Queue.Finish].
func (q *Queue) Done() <-chan struct{} { return q.done }
