package tunnel

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

const (
	pipeSize = 1 << 20 // /proc/sys/fs/pipe-max-size, as the kernel has it
	// A pipe smaller than this costs more than it saves: the user has used up
	// pipe-user-pages-soft.
	leastPipe = 64 << 10
	maxPipes  = 64 // lent at once
	keptPipes = 16 // kept for the next
)

// A pipe is lent to a way while it moves much, and is empty otherwise.
type pipe struct{ r, w int }

var (
	spare = make(chan pipe, keptPipes)
	lent  atomic.Int32
)

// held is a way's pipe, if it has one.
type held struct {
	pipe pipe
	has  bool
}

// getPipe borrows a pipe, or says that there is none: then the buffer does.
func (h *held) getPipe() bool {
	if h.has {
		return true
	}
	if lent.Add(1) > maxPipes {
		lent.Add(-1)
		return false
	}
	select {
	case h.pipe = <-spare:
		h.has = true
		return true
	default:
	}
	p, ok := newPipe()
	if !ok {
		lent.Add(-1)
		return false
	}
	h.pipe, h.has = p, true
	return true
}

func newPipe() (pipe, bool) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return pipe{}, false
	}
	p := pipe{fds[0], fds[1]}
	size, err := unix.FcntlInt(uintptr(p.w), unix.F_SETPIPE_SZ, pipeSize)
	if err != nil {
		size, err = unix.FcntlInt(uintptr(p.w), unix.F_GETPIPE_SZ, 0)
	}
	if err != nil || size < leastPipe {
		p.close()
		return pipe{}, false
	}
	return p, true
}

func (p pipe) close() {
	unix.Close(p.r)
	unix.Close(p.w)
}

// putPipe gives the pipe back. One that is not empty is never lent again.
func (h *held) putPipe(empty bool) {
	if !h.has {
		return
	}
	h.has = false
	lent.Add(-1)
	if empty {
		select {
		case spare <- h.pipe:
			return
		default:
		}
	}
	h.pipe.close()
}

// fill splices from a socket into the pipe.
func (h *held) fill(fd uintptr) (int, error) { return spliceNow(fd, uintptr(h.pipe.w), pipeSize) }

// empty splices out of the pipe to a socket.
func (h *held) empty(fd uintptr, n int) (int, error) { return spliceNow(uintptr(h.pipe.r), fd, n) }
