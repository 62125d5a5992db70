package tunnel

import (
	"errors"
	"io"
	"sync"
)

// bufferSize is the most that one move carries without a pipe.
const bufferSize = 128 << 10

var buffers = sync.Pool{New: func() any { b := make([]byte, bufferSize); return &b }}

// copy moves bytes of connections that are not sockets of the system's, such
// as TLS to an upstream. It holds a buffer while it waits.
func (w *way) copy() error {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for {
		n, err := w.src.Read(*buf)
		if err := w.see((*buf)[:n]); err != nil {
			return err
		}
		if sent := w.deliver((*buf)[:n]); sent != nil {
			return sent
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
