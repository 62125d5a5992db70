package proxy

import (
	"io"
	"sync"
	"sync/atomic"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tunnel"
)

var copyBuffers = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

type countBytes struct{ n atomic.Uint64 }

// counting counts what is read of a body.
type counting struct {
	io.ReadCloser
	count *countBytes
}

func (c *counting) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	c.count.n.Add(uint64(n))
	return n, err
}

// meterOf is a meter of its own that shows these counts.
func meterOf(up, down uint64) *tunnel.Meter {
	m := new(tunnel.Meter)
	m.Add(int(up), int(down))
	return m
}
