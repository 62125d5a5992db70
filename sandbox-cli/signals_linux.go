package cli

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// passed are the signals that the owner of a sandbox passes on to its program.
// WINCH is not one of them: the terminal tells everyone in its foreground.
var passed = []os.Signal{
	syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCONT,
}

// held catches signals from before the child is started, so that none is lost
// and none ends this process first. What is typed at a terminal goes to its
// whole foreground: a program that keeps its terminal has it from there, one
// that does not has it from us.
type held struct {
	typed bool // what is typed is passed on
	ch    chan os.Signal
	done  chan struct{}
	once  sync.Once
}

func holdSignals(terminal bool) *held {
	h := &held{typed: !terminal, ch: make(chan os.Signal, 32), done: make(chan struct{})}
	signal.Notify(h.ch, passed...)
	// Caught and dropped, where the program has the terminal, and not ignored:
	// what is ignored would stay so in the program.
	signal.Notify(h.ch, syscall.SIGINT, syscall.SIGQUIT)
	if h.typed {
		signal.Notify(h.ch, syscall.SIGTSTP)
	}
	return h
}

// passTo sends what was caught, and what will be, to the child.
func (h *held) passTo(pid int) {
	go func() {
		for {
			select {
			case <-h.done:
				return
			case s := <-h.ch:
				if !h.typed && (s == syscall.SIGINT || s == syscall.SIGQUIT) {
					continue
				}
				unix.Kill(pid, s.(syscall.Signal))
				if s == syscall.SIGTSTP {
					// The shell that started us waits for us to stop, as the program has.
					unix.Kill(unix.Getpid(), syscall.SIGSTOP)
				}
			}
		}
	}()
}

func (h *held) stop() {
	h.once.Do(func() {
		signal.Stop(h.ch)
		close(h.done)
	})
}
