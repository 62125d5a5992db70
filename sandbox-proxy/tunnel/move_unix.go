//go:build unix

package tunnel

import (
	"io"
	"syscall"
)

const (
	// A move of this size or more is a bulky one; after bulkyRun of them in a
	// row the stream is spliced. For small moves one read and one write cost
	// less than two splices.
	bulkySize = bufferSize / 2
	bulkyRun  = 4
	// A move under this size ends a bulky run.
	smallSize = 16 << 10
)

// run moves bytes until the source ends.
func (w *way) run() error {
	src, ok1 := w.src.(syscall.Conn)
	dst, ok2 := w.dst.(syscall.Conn)
	if !ok1 || !ok2 {
		return w.copy()
	}
	s, err := src.SyscallConn()
	if err != nil {
		return err
	}
	d, err := dst.SyscallConn()
	if err != nil {
		return err
	}
	m := &mover{way: w, src: s, dst: d}
	m.readFrom, m.writeTo = m.read, m.write
	defer m.release()
	return m.run()
}

// A mover waits for the source to be readable holding nothing, takes a buffer
// or a pipe while bytes move, and gives it back when the source has no more.
type mover struct {
	*way
	src, dst          syscall.RawConn
	readFrom, writeTo func(fd uintptr) bool

	held     // the pipe
	buf      *[]byte
	n, off   int  // bytes at hand, and where in buf they start
	bulky    int  // bulky moves in a row
	paused   bool // the last try stopped at the valve
	ended    bool
	err      error
	noSplice bool
}

func (m *mover) run() error {
	for {
		if m.splicing() {
			m.putBuffer()
		} else {
			m.putPipe(m.n == 0)
		}
		if err := m.src.Read(m.readFrom); err != nil && m.err == nil {
			return err
		}
		if m.ended || m.err != nil {
			return m.err
		}
		for m.n > 0 {
			if err := m.dst.Write(m.writeTo); err != nil && m.err == nil {
				return err
			}
			if m.err != nil {
				return m.err
			}
			if err := m.resume(); err != nil {
				return err
			}
		}
		if err := m.resume(); err != nil {
			return err
		}
	}
}

func (m *mover) resume() error {
	if !m.paused {
		return nil
	}
	m.paused = false
	return m.pass()
}

func (m *mover) splicing() bool { return m.bulky >= bulkyRun && !m.noSplice && m.watch == nil }

// read takes what there is, or says that there is nothing yet.
func (m *mover) read(fd uintptr) bool {
	for {
		if m.t.Valve.shut() {
			m.paused = true
			return true
		}
		n, err := m.take(fd)
		switch {
		case err == nil && n == 0:
			m.ended = true
			return true
		case err == nil:
			if m.watch != nil {
				if m.err = m.see((*m.buf)[:n]); m.err != nil {
					return true
				}
			}
			m.n, m.off = n, 0
			if n >= bulkySize {
				m.bulky++
			} else if n < smallSize {
				m.bulky = 0
			}
			return true
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			m.release()
			return false
		default:
			m.err = err
			return true
		}
	}
}

func (m *mover) take(fd uintptr) (int, error) {
	if m.splicing() {
		if m.getPipe() {
			n, err := m.fill(fd)
			if err != syscall.EINVAL {
				return n, err
			}
			m.noSplice = true // not a socket that can be spliced
			m.putPipe(true)
		}
		m.bulky = 0 // no pipe to be had: not asked for again at once
	}
	if m.buf == nil {
		m.buf = buffers.Get().(*[]byte)
	}
	return readNow(fd, *m.buf)
}

// write gives what is at hand, or says that there is no room.
func (m *mover) write(fd uintptr) bool {
	for m.n > 0 {
		if m.t.Valve.shut() {
			m.paused = true
			return true
		}
		var n int
		var err error
		if m.buf != nil {
			n, err = writeNow(fd, (*m.buf)[m.off:m.off+m.n])
		} else {
			n, err = m.empty(fd, m.n)
		}
		switch {
		case err == nil && n == 0:
			m.err = io.ErrShortWrite
			return true
		case err == nil:
			m.n -= n
			m.off += n
			m.moved(n)
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			return false
		default:
			m.err = err
			return true
		}
	}
	return true
}

func (m *mover) putBuffer() {
	if m.buf != nil {
		buffers.Put(m.buf)
		m.buf = nil
	}
}

func (m *mover) release() {
	m.putBuffer()
	m.putPipe(m.n == 0)
}
