package direct

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Guard is a process that has the one that made it go on, should that be
// stopped, once there is something for it to look at. It leads a session of its
// own, so that what stops a terminal's job does not stop it, and ends with its
// maker.
type Guard struct {
	pid     int
	region  *region
	waiting *waiting
}

// guardAgain is how long it waits before it says so again, since a word that
// comes before the stop is none: in nanoseconds.
const guardAgain = 20_000_000

// Where the guard has its two descriptors.
const (
	guardTable = 3
	guardMoves = 4
)

// BeginGuard makes one. It waits until a table of mounts has changed since it was
// opened (proc_pid_mounts(5)), or moves can be read, or for patience, in
// milliseconds; moves that are negative are none, and so is a patience's end.
// Both may be closed afterwards, and are above those that it has them at.
func BeginGuard(table, moves, patience int) (*Guard, error) {
	if table <= guardMoves || moves >= 0 && moves <= guardMoves {
		return nil, fmt.Errorf("descriptors %d and %d: too low", table, moves)
	}
	r, w, stack, err := newWaiting()
	fail := func(err error) (*Guard, error) {
		if r != nil {
			r.close()
		}
		return nil, fmt.Errorf("a process that watches meanwhile: %w", err)
	}
	if err != nil {
		return fail(err)
	}
	// Whatever fails, it goes on to its end, where its maker looks for itself.
	s := &script{}
	s.about("a session")
	s.anyway(unix.SYS_SETSID)
	s.anyway(unix.SYS_CHDIR, s.text("/"))
	s.anyway(unix.SYS_PRCTL, n(unix.PR_SET_NAME), s.text("lnk guard"))
	fds, count := []unix.PollFd{{Fd: guardTable, Events: unix.POLLPRI}}, 1
	w.hold = uintptr(table)
	if moves >= 0 {
		fds, count = append(fds, unix.PollFd{Fd: guardMoves, Events: unix.POLLIN}), 2
		w.also = uintptr(moves)
	}
	polled := s.place(unsafe.Slice((*byte)(unsafe.Pointer(&fds[0])), count*int(unsafe.Sizeof(fds[0]))))
	// poll(2), which arm64 has not.
	timeout := n(0)
	if patience >= 0 {
		timeout = s.words(uint64(patience/1000), uint64(patience%1000)*1_000_000)
	}
	s.anyway(unix.SYS_PPOLL, polled, n(count), timeout, n(0), n(sigsetSize))
	s.doOK(anyError, tmp, unix.SYS_GETPID)
	early, err := s.link(r, 0)
	if err != nil {
		return fail(err)
	}
	again := &script{}
	again.about("its maker goes on")
	again.anyway(unix.SYS_KILL, n(os.Getpid()), n(unix.SIGCONT))
	again.anyway(unix.SYS_NANOSLEEP, again.words(0, guardAgain), n(0))
	after, err := again.link(r, 0)
	if err != nil {
		return fail(err)
	}
	w.early, w.after, w.maker = early.calls, after.calls, uintptr(os.Getpid())
	pid, err := w.start(stack, 0)
	if err != nil {
		return fail(err)
	}
	return &Guard{pid: pid, region: r, waiting: w}, nil
}

// End ends it, and says whether there was something to look at.
func (g *Guard) End() bool {
	_ = unix.Kill(g.pid, unix.SIGKILL) // not reaped yet
	for {
		if _, err := syscall.Wait4(g.pid, nil, 0, nil); err != syscall.EINTR {
			break
		}
	}
	saw := g.waiting.image.regs[tmp] != 0
	g.region.close()
	return saw
}
