package child

import (
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/launch"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/selfpipe"
)

// passed are the signals that the owner of a sandbox passes on to its program.
// WINCH is not one of them: the terminal tells everyone in its foreground.
var passed = []os.Signal{
	syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCONT,
	syscall.SIGALRM, syscall.SIGABRT, syscall.SIGIO, syscall.SIGPWR,
}

// Signals catches signals from before the child is started, so that none is lost
// and none ends this process first. What is typed at a terminal goes to its
// whole foreground: a program that keeps its terminal has it from there, one
// that does not has it from us.
type Signals struct {
	typed bool // what is typed is passed on
	ch    chan os.Signal
	done  chan struct{}
	once  sync.Once

	mu      sync.Mutex
	pid     int              // that of the child, 0 before there is one
	waiting []syscall.Signal // what was caught before
	passing bool

	stopping atomic.Bool               // one waits for the child to stop
	letGoOn  atomic.Pointer[time.Time] // when SIGCONT came last
}

// Hold begins to catch them. With terminal the program keeps the terminal, and
// what is typed at it.
func Hold(terminal bool) *Signals {
	h := &Signals{typed: !terminal, ch: make(chan os.Signal, 32), done: make(chan struct{})}
	for _, s := range passed {
		// Ignored when we started, as nohup(1) has it, it is so for the program
		// too: what is caught here would be itself again in what we start.
		if s != syscall.SIGHUP || !signal.Ignored(s) {
			selfpipe.Notify(h.ch, s)
		}
	}
	// Caught and dropped, where the program has the terminal, and not ignored:
	// what is ignored would stay so in the program.
	selfpipe.Notify(h.ch, syscall.SIGINT, syscall.SIGQUIT)
	if h.typed {
		selfpipe.Notify(h.ch, syscall.SIGTSTP)
	}
	return h
}

// PassTo sends what was caught, and what will be, to the child; 0 has it wait
// again for one.
func (h *Signals) PassTo(pid int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pid = pid
	if pid == 0 {
		return
	}
	for _, s := range h.waiting {
		h.pass(s)
	}
	h.waiting = nil
	if h.passing {
		return
	}
	h.passing = true
	if !h.typed {
		selfpipe.Notify(h.ch, syscall.SIGTSTP) // until now it was for us alone
	}
	go func() {
		for {
			select {
			case <-h.done:
				return
			case s := <-h.ch:
				h.take(s.(syscall.Signal))
			}
		}
	}()
}

func (h *Signals) take(s syscall.Signal) {
	if !h.typed && (s == syscall.SIGINT || s == syscall.SIGQUIT) {
		return
	}
	if s == syscall.SIGCONT {
		now := time.Now()
		h.letGoOn.Store(&now)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pid == 0 {
		if len(h.waiting) < cap(h.ch) {
			h.waiting = append(h.waiting, s)
		}
		return
	}
	h.pass(s)
}

func (h *Signals) pass(s syscall.Signal) {
	if s == syscall.SIGCONT && !h.typed && (!stopped(h.pid) || len(h.ch) > 0) {
		return // the child was let go on with us, and maybe stopped anew
	}
	if s != syscall.SIGTSTP {
		unix.Kill(h.pid, s)
		return
	}
	if h.typed {
		unix.Kill(h.pid, s)
	}
	if h.stopping.CompareAndSwap(false, true) {
		go h.stopWith(h.pid, h.letGoOn.Load())
	}
}

// stopPatience bounds the wait for a child that cleans up before it stops, which is
// more than the wall gives its program, and ownPatience the wait for one that has
// been told as we have.
const (
	stopPatience = 4 * time.Second
	ownPatience  = 200 * time.Millisecond
)

// stopWith stops us once the child has stopped, and no sooner: the shell that
// started us takes the terminal back then, from which the program would still
// read. A child that does not stop goes on, and so do we; and so it is when we are
// let go on meanwhile. What was sent to us alone is passed on: behind a shell it
// cannot be told at once from what was sent to the group.
//
// Two threads may take a stop and what undoes it in the other order, so that what
// comes just behind a SIGCONT is no news.
func (h *Signals) stopWith(pid int, letGoOn *time.Time) {
	defer h.stopping.Store(false)
	wanted := func() bool { return h.letGoOn.Load() == letGoOn }
	began := time.Now()
	told := h.typed || launch.Foreground() || letGoOn != nil && began.Sub(*letGoOn) < ownPatience
	for wait := time.Millisecond; wanted() && time.Since(began) < stopPatience; wait = min(2*wait, 50*time.Millisecond) {
		if stopped(pid) {
			selfpipe.Suspend(func() bool { return stopped(pid) && wanted() })
			return
		}
		if !told && time.Since(began) > ownPatience {
			unix.Kill(pid, unix.SIGTSTP)
			told = true
		}
		select {
		case <-h.done:
			return
		case <-time.After(wait):
		}
	}
}

// stopped is whether a child is stopped now. One that was reaped is not.
func stopped(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo == int32(unix.SIGCHLD)
}

// Stop lets signals do again what they do.
func (h *Signals) Stop() {
	h.once.Do(func() {
		selfpipe.Stop(h.ch)
		close(h.done)
	})
}
