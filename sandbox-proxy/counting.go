package proxy

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

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
	closed atomic.Bool
}

func (s *sent) Read(b []byte) (int, error) {
	if s.closed.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := s.body.Read(b)
	s.count.n.Add(uint64(n))
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
	return &sent{body: s.body, count: s.count}, nil
}

var errSent = errors.New("part of the body was sent")

// meterOf is a meter of its own that shows these counts.
func meterOf(up, down uint64) *tunnel.Meter {
	m := new(tunnel.Meter)
	m.Add(int(up), int(down))
	return m
}
