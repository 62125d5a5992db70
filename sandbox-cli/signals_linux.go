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

// typed are the signals that a terminal sends to its whole foreground. A
// program that keeps its terminal gets them from there; one that does not gets
// them from us.
var typed = []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP}

// held catches signals from before the child is started, so that none is lost
// and none ends this process first.
type held struct {
	ch   chan os.Signal
	done chan struct{}
	once sync.Once
}

func holdSignals(terminal bool) *held {
	h := &held{ch: make(chan os.Signal, 32), done: make(chan struct{})}
	signal.Notify(h.ch, passed...)
	if terminal {
		// Ignored in the children too, until the stage inside sets them back.
		signal.Ignore(syscall.SIGINT, syscall.SIGQUIT)
	} else {
		signal.Notify(h.ch, typed...)
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
