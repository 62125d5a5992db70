package proxy

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tunnel"
)

var copyBuffers = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

type countBytes struct{ n atomic.Uint64 }

// A sent is a request's body on its way to the origin. It counts what is read.
//
// Closing it leaves the program's body alone: the server's reads the rest of it
// on Close, which would wait for a program that waits for an answer.
type sent struct {
	body   io.ReadCloser
	count  *countBytes
	length int64 // negative where only its end tells
	closed atomic.Bool
	// whole is that the program has sent all of it, garbled that what it sent
	// is no body.
	whole, garbled atomic.Bool
}

// all says whether the program has sent everything.
func (s *sent) all() bool {
	return s == nil || s.whole.Load() || s.length >= 0 && s.count.n.Load() >= uint64(s.length)
}

// malformed says whether the program sent what is no body.
func (s *sent) malformed() bool { return s != nil && s.garbled.Load() }

// aheadOfBody lets an answer go ahead of the body that it answers, which the
// server would wait for otherwise. Who answers may do so before it has the whole
// body, or want none of it; a program may never send it.
func aheadOfBody(w http.ResponseWriter, r *http.Request) {
	if r.Body != http.NoBody {
		http.NewResponseController(w).EnableFullDuplex()
	}
}

// drain reads and throws away what the program still sends of a body that was
// answered early: closing the connection under it would reset it, and the
// answer with it (RFC 9112 section 9.6). Many clients read no answer before
// they have sent everything. A program that was not told to go on sends none.
// The connection counts among those that wait.
func drain(w http.ResponseWriter, r *http.Request) {
	if r.Body == http.NoBody || r.Header.Get("Expect") != "" {
		return
	}
	rc := http.NewResponseController(w)
	if g := gateOf(r); g != nil {
		g.proxy.wait(g)
		defer g.arrived()
		defer g.unwanted()
	}
	rc.Flush()
	buf := copyBuffers.Get().(*[]byte)
	defer copyBuffers.Put(buf)
	for until := time.Now().Add(drainTime); time.Now().Before(until); {
		rc.SetReadDeadline(time.Now().Add(lingerTime))
		if _, err := r.Body.Read(*buf); err != nil {
			break
		}
	}
	rc.SetReadDeadline(time.Time{})
}

func (s *sent) Read(b []byte) (int, error) {
	if s.closed.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := s.body.Read(b)
	s.count.n.Add(uint64(n))
	if err != nil {
		s.whole.Store(err == io.EOF)
		s.garbled.Store(garbled(err))
	}
	return n, err
}

func (s *sent) Close() error {
	s.closed.Store(true)
	return nil
}

// again gives the body anew while nothing of it was read, for a request whose
// kept connection turns out to be closed.
func (s *sent) again() (io.ReadCloser, error) {
	if s.count.n.Load() > 0 {
		return nil, errSent
	}
	return &sent{body: s.body, count: s.count, length: s.length}, nil
}

// garbled tells what is no body from one that a program did not finish.
func garbled(err error) bool {
	var ne net.Error
	return err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.As(err, &ne) && !errors.Is(err, net.ErrClosed)
}

var errSent = errors.New("part of the body was sent")

// meterOf is a meter of its own that shows these counts.
func meterOf(up, down uint64) *tunnel.Meter {
	m := new(tunnel.Meter)
	m.Add(int(up), int(down))
	return m
}

// A tally counts what is written.
type tally struct {
	io.Writer
	n int
}

func (t *tally) Write(b []byte) (int, error) {
	n, err := t.Writer.Write(b)
	t.n += n
	return n, err
}
