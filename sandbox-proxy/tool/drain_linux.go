package tool

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// drain has reads of what may be held open by something else end soon: the
// process is gone.
func (p *process) drain() {
	for _, f := range []*os.File{p.out, p.errs} {
		if f != nil {
			f.SetReadDeadline(time.Now().Add(drainTime))
		}
	}
}

// patient reads a stream of the process, and once that is gone what the process
// can have left in it: as much as the stream holds, waiting for it no longer
// than drainTime in all. What writes on in it, a daemon, is nobody's to wait for.
func (p *process) patient(f *os.File) io.Reader { return &patient{p: p, f: f} }

type patient struct {
	p      *process
	f      *os.File
	late   bool          // it is gone
	left   int           // then: how much is still read
	waited time.Duration // and how long was waited
}

func (r *patient) Read(b []byte) (int, error) {
	if !r.late {
		select {
		case <-r.p.done:
			r.late, r.left = true, holds(r.f)
		default:
			n, err := r.f.Read(b)
			r.late = errors.Is(err, os.ErrDeadlineExceeded) // as drain has it
			return n, err
		}
	}
	if r.left == 0 || r.waited >= drainTime {
		return 0, os.ErrDeadlineExceeded
	}
	began := time.Now()
	r.f.SetReadDeadline(began.Add(drainTime - r.waited))
	n, err := r.f.Read(b[:min(len(b), r.left)])
	r.waited += time.Since(began)
	r.left -= n
	return n, err
}

// holds is how much a stream can hold that was written and not yet read: a pipe
// says so (F_GETPIPE_SZ, fcntl(2)); a terminal holds less than a pipe does
// (pipe(7)).
func holds(f *os.File) int {
	size := 64 << 10
	onDescriptor(f, func(fd int) {
		if n, err := unix.FcntlInt(uintptr(fd), unix.F_GETPIPE_SZ, 0); err == nil {
			size = max(size, n)
		}
	})
	return size
}
