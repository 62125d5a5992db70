package child

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/selfpipe"
)

// passed are the signals that the owner of a sandbox passes on to its program.
// WINCH is not one of them: the terminal tells everyone in its foreground.
var passed = []os.Signal{
	syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCONT,
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
	unix.Kill(h.pid, s)
	if s == syscall.SIGTSTP {
		// The shell that started us waits for us to stop, as the program has.
		unix.Kill(unix.Getpid(), syscall.SIGSTOP)
	}
}

// Stop lets signals do again what they do.
func (h *Signals) Stop() {
	h.once.Do(func() {
		selfpipe.Stop(h.ch)
		close(h.done)
	})
}
