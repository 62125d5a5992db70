package proxy

import (
	"net/http"
	"sync"
)

var firstBuffers = sync.Pool{New: func() any { return new([firstBytes]byte) }}

// newBuffer makes a buffer; one of the first size comes from those that were
// given back.
func newBuffer(size int) []byte {
	if size == firstBytes {
		return firstBuffers.Get().(*[firstBytes]byte)[:]
	}
	return make([]byte, size)
}

// forget gives the buffer back. Nothing is read from the gate anymore: the
// connection is another's.
func (g *gate) forget() {
	if cap(g.buf) == firstBytes && len(g.buf) == firstBytes {
		firstBuffers.Put((*[firstBytes]byte)(g.buf))
	}
	g.buf, g.r, g.w = nil, 0, 0
}

// fill reads more into the buffer, which grows to maxHeadBytes for a head that
// is as long, and is small again for the next.
func (g *gate) fill() error {
	if g.r == g.w {
		g.r, g.w = 0, 0
		if want := g.room(); len(g.buf) != want {
			g.buf = newBuffer(want)
		}
	}
	if g.w == len(g.buf) {
		if g.r > 0 {
			g.w = copy(g.buf, g.buf[g.r:g.w])
			g.r = 0
		} else if len(g.buf) >= maxHeadBytes {
			return errFull
		} else {
			bigger := make([]byte, 2*len(g.buf))
			g.w = copy(bigger, g.buf[:g.w])
			g.buf = bigger
		}
	}
	n, err := g.Conn.Read(g.buf[g.w:])
	g.w += n
	if n > 0 {
		return nil
	}
	return err
}

var errFull = bad(http.StatusRequestHeaderFieldsTooLarge, "a head longer than 64 KiB")

// room is how large the buffer is when it is empty.
func (g *gate) room() int {
	if g.mode == inChunks {
		return chunkBytes
	}
	return firstBytes
}

// unread gives the bytes that were read and not given, for good.
func (g *gate) unread() []byte {
	b := g.buf[g.r:g.w]
	g.r, g.w = 0, 0
	return append([]byte(nil), b...)
}

// push puts bytes back in front of what is unread.
func (g *gate) push(b []byte) {
	if len(b) == 0 {
		return
	}
	rest := g.unread()
	g.buf = append(append([]byte(nil), b...), rest...)
	g.r, g.w = 0, len(g.buf)
}

// body gives bytes of the body, and no further.
func (g *gate) body(p []byte) (int, error) {
	if g.mode == inBody && g.r == g.w {
		n, err := g.Conn.Read(p[:min(int64(len(p)), g.left)])
		g.took(int64(n))
		return n, err
	}
	if g.r == g.w {
		if err := g.fill(); err != nil {
			return 0, err
		}
	}
	b := g.buf[g.r:g.w]
	if len(b) > len(p) {
		b = b[:len(p)]
	}
	if g.mode == inBody {
		n := copy(p, b[:min(int64(len(b)), g.left)])
		g.r += n
		g.took(int64(n))
		return n, nil
	}
	n, done, err := g.chunks.next(b)
	if err != nil {
		return 0, err
	}
	copy(p, b[:n])
	g.r += n
	if done {
		g.mode = betweenHeads
	}
	return n, nil
}

func (g *gate) took(n int64) {
	g.left -= n
	if g.left == 0 {
		g.mode = betweenHeads
	}
}
