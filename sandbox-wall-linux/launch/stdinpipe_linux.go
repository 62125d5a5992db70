package launch

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A pipeFeeder gives the program a pipe as its standard input, by a pipe of its
// own. What is open to be read can be opened again to be written, through
// /proc/self/fd (proc(5)): who had the pipe itself could put words into it, and
// whoever reads on in it outside (a shell its script, a loop its next line)
// would take them for those of the one who writes it.
//
// Of the pipe no more is taken than the program took, since whoever started us
// reads on in it. What is there is shown inside (tee(2)) in a pipe that this
// fills, so that the kernel says when some of it was taken. Then what was left is
// taken back, what was not is taken from the pipe outside, and what is there now
// is shown. Nothing is done while nothing is written or taken.
type pipeFeeder struct {
	from   *os.File
	pipe   int // the end that is written; -1 is closed
	kept   int // the end that is read
	null   int
	waits  *os.File      // an epoll(7) of both pipes and stop, which is closed at the end
	stop   int           // an eventfd(2), for who waits by itself
	alone  atomic.Bool   // it does
	ended  atomic.Bool   // the program has
	much   bool          // what was shown last was more than one piece
	most   int           // how many pieces are shown at once at the most
	full   int           // how often the pipe outside was full, one time after another
	length int           // of the pipe outside, before it was made longer; 0 is as it was
	shown  int           // of what is in from: what was put into pipe
	done   chan struct{} // nil before it was begun
}

const (
	// mostPieces bounds what is shown at once: a power of two, as a pipe's length
	// is.
	mostPieces = 32
	// asMade is how many a pipe holds as it is made (pipe(7)).
	asMade = 16
	// manyFull is how often it is full before it is made longer.
	manyFull = 8
)

// all is more than a pipe ever holds at once.
const all = 1 << 30

// feedPipe gives the program's end.
func feedPipe(from *os.File) (*pipeFeeder, int, error) {
	var opened ends
	keep := func(fd int, err error) (int, error) {
		if err == nil {
			opened = append(opened, fd)
		}
		return fd, err
	}
	f := &pipeFeeder{from: from, most: mostPieces}
	var pipe [2]int
	err := unix.Pipe2(pipe[:], unix.O_CLOEXEC)
	if err == nil {
		opened = append(opened, pipe[:]...)
		f.pipe = pipe[1]
		_, err = unix.Tee(int(from.Fd()), f.pipe, 0, unix.SPLICE_F_NONBLOCK) // which a filter around us may forbid
	}
	if err == nil {
		f.kept, err = keep(unix.FcntlInt(uintptr(pipe[0]), unix.F_DUPFD_CLOEXEC, FirstFile))
	}
	if err == nil {
		f.null, err = keep(unix.Open(os.DevNull, unix.O_WRONLY|unix.O_CLOEXEC, 0))
	}
	if err == nil {
		f.stop, err = keep(unix.Eventfd(0, unix.EFD_CLOEXEC))
	}
	event := -1
	if err == nil {
		event, err = keep(unix.EpollCreate1(unix.EPOLL_CLOEXEC))
	}
	for _, of := range []unix.EpollEvent{
		{Fd: int32(from.Fd()), Events: unix.EPOLLONESHOT}, {Fd: int32(f.pipe), Events: unix.EPOLLONESHOT}, {Fd: int32(f.stop), Events: unix.EPOLLIN},
	} {
		if err == nil {
			err = unix.EpollCtl(event, unix.EPOLL_CTL_ADD, int(of.Fd), &of)
		}
	}
	if err == nil {
		err = unix.SetNonblock(event, true) // so that waiting for it takes no thread
	}
	if err != nil {
		opened.close()
		return nil, -1, fmt.Errorf("pipe: %w", err)
	}
	f.waits = os.NewFile(uintptr(event), "what the program takes")
	return f, pipe[0], nil
}

// begin begins to feed.
func (f *pipeFeeder) begin() {
	f.done = make(chan struct{})
	go f.run()
}

func (f *pipeFeeder) run() {
	defer close(f.done)
	defer f.closePipe() // which is the end for the program too
	for zeros := 0; zeros < manyZeros; {
		n, err := f.show()
		switch {
		case err == unix.EAGAIN || err == unix.EINTR:
			if !f.await(f.pipe, unix.EPOLLOUT) || !f.await(int(f.from.Fd()), unix.EPOLLIN) {
				return
			}
		case err != nil:
			return
		case n > 0:
			f.shown = n
			if !f.await(f.pipe, unix.EPOLLOUT) {
				return
			}
			f.fits(f.account())
		}
		if zeros++; n > 0 || err != nil {
			zeros = 0 // else it is at its end, or somebody else took it between two looks
		}
	}
}

// manyZeros is how often nothing is shown, of a pipe that seems to be at its end,
// before it is.
const manyZeros = 3

// show shows what is there, as much as fills the program's pipe.
func (f *pipeFeeder) show() (int, error) {
	page, from := os.Getpagesize(), int(f.from.Fd())
	pieces := 1
	if there, err := unix.IoctlGetInt(from, unix.TIOCINQ); err == nil { // FIONREAD's other name
		for 2*pieces <= f.most && 2*pieces*page <= there {
			pieces *= 2
		}
	}
	f.much = pieces > 1
	f.grow(pieces)
	// The program can make it another size as well.
	if now, err := unix.FcntlInt(uintptr(f.pipe), unix.F_GETPIPE_SZ, 0); err == nil && now != pieces*page {
		_, _ = unix.FcntlInt(uintptr(f.pipe), unix.F_SETPIPE_SZ, pieces*page)
	}
	n, err := unix.Tee(from, f.pipe, all, unix.SPLICE_F_NONBLOCK)
	return int(n), err
}

// grow makes the pipe outside longer where much comes through it for long, so that
// its writer goes on while the program reads: what is shown takes up room in both.
func (f *pipeFeeder) grow(pieces int) {
	if f.full++; pieces < asMade {
		f.full = 0
	}
	if f.full != manyFull || f.length != 0 {
		return
	}
	from, want := f.from.Fd(), 2*mostPieces*os.Getpagesize()
	now, err := unix.FcntlInt(from, unix.F_GETPIPE_SZ, 0)
	if err != nil || now >= want {
		return
	}
	if _, err := unix.FcntlInt(from, unix.F_SETPIPE_SZ, want); err == nil {
		f.length = now
	}
}

// shrink makes the pipe outside as long as it was, unless it holds more.
func (f *pipeFeeder) shrink() {
	if f.length != 0 {
		_, _ = unix.FcntlInt(f.from.Fd(), unix.F_SETPIPE_SZ, f.length)
	}
}

// account takes back what the program left of what was shown, at once, so that it
// reads nothing out of its order, and takes from the pipe outside what it did not
// leave, which is how much it says.
func (f *pipeFeeder) account() (took int) {
	if f.shown == 0 {
		return 0
	}
	took = f.shown - f.drop(f.kept, all)
	// Of what is not there any more somebody else took it.
	if there, err := unix.IoctlGetInt(int(f.from.Fd()), unix.TIOCINQ); err == nil && there < f.shown {
		f.drop(int(f.from.Fd()), took-(f.shown-there))
	} else {
		f.drop(int(f.from.Fd()), took)
	}
	f.shown = 0
	return took
}

// fits goes by what was taken how much is shown at once.
func (f *pipeFeeder) fits(took int) {
	switch {
	case took > 0:
		f.most = min(2*f.most, mostPieces)
	case f.most > 1:
		f.most /= 2 // pieces are longer than a page, and what is there of them did not fill it
	default:
		time.Sleep(idle) // the program makes its pipe longer, or writes to it
	}
}

// idle bounds how often something is shown of which nothing is taken.
const idle = 10 * time.Millisecond

// drop takes up to n bytes out of a pipe, under one lock of it.
func (f *pipeFeeder) drop(pipe, n int) int {
	for n > 0 {
		dropped, err := unix.Splice(pipe, nil, f.null, nil, n, unix.SPLICE_F_NONBLOCK)
		if err != unix.EINTR {
			return max(0, int(dropped))
		}
	}
	return 0
}

// await waits for one end of a pipe; false is that the program has ended. While
// much comes it waits by itself: the scheduler's ways are longer than a pipe's.
func (f *pipeFeeder) await(end int, events uint32) bool {
	raw, err := f.waits.SyscallConn()
	if err != nil {
		return false
	}
	patience := 0
	if f.much {
		patience = muchPatience
	}
	var came [1]unix.EpollEvent
	wait := func(event uintptr) (bool, error) {
		f.alone.Store(patience > 0)
		defer f.alone.Store(false)
		for !f.ended.Load() {
			n, err := waitRaw(event, &came[0], patience)
			switch {
			case err == unix.EINTR:
			case err != 0 || n == 0:
				patience = 0
				if err == 0 {
					return false, nil
				}
				return false, err
			case came[0].Fd == int32(end):
				return true, nil
			}
		}
		return false, os.ErrClosed
	}
	armed, is := false, false
	failed := raw.Read(func(event uintptr) bool {
		if !armed {
			armed = true
			err = unix.EpollCtl(int(event), unix.EPOLL_CTL_MOD, end, &unix.EpollEvent{Events: events | unix.EPOLLONESHOT, Fd: int32(end)})
		}
		if err == nil {
			is, err = wait(event)
		}
		return is || err != nil
	})
	return is && failed == nil
}

// muchPatience is how long it waits by itself, in thousandths of a second.
const muchPatience = 1

// waitRaw is epoll_wait(2) of one event. The scheduler, which is not told, looks
// for no other thread to go on with, for each piece anew; it waits for this one.
func waitRaw(event uintptr, came *unix.EpollEvent, patience int) (int, unix.Errno) {
	n, _, err := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, event, uintptr(unsafe.Pointer(came)), 1, uintptr(patience), 0, 0)
	return int(n), err
}

func (f *pipeFeeder) closePipe() {
	if f.pipe >= 0 {
		unix.Close(f.pipe)
		f.pipe = -1
	}
}

// settle is called when the program has ended, and all that it left.
func (f *pipeFeeder) settle() {
	f.ended.Store(true)
	if f.done != nil {
		if f.alone.Load() {
			_, _ = unix.Write(f.stop, []byte{1, 0, 0, 0, 0, 0, 0, 0})
		}
		f.waits.Close()
		<-f.done
		f.account()
		f.shrink()
	} else {
		f.waits.Close()
	}
	f.closePipe()
	for _, fd := range []int{f.kept, f.null, f.stop} {
		unix.Close(fd)
	}
}
