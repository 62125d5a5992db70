package blank

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxCalls bounds calls that are being answered at once; one more is reset.
	maxCalls = 512
	// maxHead bounds what is read of a call, in bytes, and headTime how long.
	maxHead  = 64 << 10
	headTime = 10 * time.Second
	// lingerTime bounds the wait for a caller to read its answer.
	lingerTime = 2 * time.Second
	// acceptWait and acceptWaitMost bound the waits after a failed accept.
	acceptWait     = 5 * time.Millisecond
	acceptWaitMost = time.Second
)

// answer is what every call is told. What follows it on a connection is not
// answered.
const answer = "HTTP/1.1 503 Service Unavailable\r\n" +
	"Content-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\nLnk-Refused: blank\r\nRetry-After: 1\r\n" +
	"Content-Length: 53\r\nConnection: close\r\n\r\n" +
	"lnk sandbox: nothing is bound to this proxy: not yet\n"

// noMethod is a SOCKS5 server's refusal before it was asked for anything
// (RFC 1928 section 3).
const noMethod = "\x05\xff"

// A Listener answers calls with a 503 until it is opened; from then on Accept
// gives them.
type Listener struct {
	inner  net.Listener
	open   atomic.Bool
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	work   sync.WaitGroup

	mu  sync.Mutex
	now map[net.Conn]bool // those that are being answered
}

// NewListener begins to answer a listener's calls. It owns the listener.
func NewListener(l net.Listener) *Listener {
	b := &Listener{inner: l, conns: make(chan net.Conn), closed: make(chan struct{}), now: map[net.Conn]bool{}}
	b.work.Go(b.take)
	return b
}

// Open ends the answering: calls that come from now on are Accept's.
func (b *Listener) Open() { b.open.Store(true) }

// Accept gives a call that came after Open.
func (b *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-b.conns:
		return c, nil
	case <-b.closed:
		return nil, net.ErrClosed
	}
}

// Addr is the listener's.
func (b *Listener) Addr() net.Addr { return b.inner.Addr() }

// Close ends the listening, and what is being answered.
func (b *Listener) Close() error {
	var err error
	b.once.Do(func() {
		close(b.closed)
		err = b.inner.Close()
		b.mu.Lock()
		for c := range b.now {
			c.Close()
		}
		b.mu.Unlock()
	})
	b.work.Wait()
	return err
}

func (b *Listener) take() {
	for wait := acceptWait; ; {
		c, err := b.inner.Accept()
		if err == nil {
			wait = acceptWait
			b.give(c)
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		select {
		case <-time.After(wait):
			wait = min(2*wait, acceptWaitMost)
		case <-b.closed:
			return
		}
	}
}

func (b *Listener) give(c net.Conn) {
	if b.open.Load() {
		select {
		case b.conns <- c:
		case <-b.closed:
			c.Close()
		}
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.closed:
		c.Close()
		return
	default:
	}
	if len(b.now) >= maxCalls {
		c.Close()
		return
	}
	b.now[c] = true
	b.work.Go(func() {
		refuse(c)
		b.mu.Lock()
		delete(b.now, c)
		b.mu.Unlock()
	})
}

// refuse answers a call and ends it.
func refuse(c net.Conn) {
	defer c.Close()
	c.SetDeadline(time.Now().Add(headTime))
	said := answer
	switch first, err := readHead(c); {
	case err != nil:
		return
	case first == noMethod[0]:
		said = noMethod
	}
	if _, err := io.WriteString(c, said); err != nil {
		return
	}
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
	c.SetDeadline(time.Now().Add(lingerTime))
	io.CopyN(io.Discard, c, maxHead)
}

// readHead reads the head of an HTTP request, or as much of another call as it
// takes to tell.
func readHead(c net.Conn) (first byte, err error) {
	b := make([]byte, 0, 4<<10)
	for {
		if len(b) == cap(b) {
			if len(b) >= maxHead {
				return b[0], nil
			}
			b = append(make([]byte, 0, 2*cap(b)), b...)
		}
		n, err := c.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if n > 0 && (b[0] < 'A' || b[0] > 'z' || bytes.Contains(b, []byte("\r\n\r\n")) || bytes.Contains(b, []byte("\n\n"))) {
			return b[0], nil
		}
		if err != nil {
			return 0, err
		}
	}
}
