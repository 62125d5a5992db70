package shim

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tool/frame"
)

// watched are the signals that go on to the tool, and what this process has to
// do something about.
var watched = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2,
	syscall.SIGCONT, syscall.SIGTSTP, syscall.SIGWINCH, syscall.SIGPIPE, syscall.SIGALRM, syscall.SIGABRT,
}

// pass sends the signals that come.
func (r *running) pass(signals <-chan os.Signal) {
	for s := range signals {
		number, _ := s.(syscall.Signal)
		switch number {
		case syscall.SIGPIPE: // the write that failed says it
		case syscall.SIGWINCH:
			if r.tty != nil {
				r.to.Write(frame.Size, r.tty.size().Bytes())
			}
		case syscall.SIGTSTP:
			r.to.Write(frame.Signal, []byte{byte(linuxNumber(number))})
			r.stop()
		default:
			r.to.Write(frame.Signal, []byte{byte(linuxNumber(number))})
		}
	}
}

// stop stops this process as the tool has stopped; when it is continued, by
// whoever has the terminal, so is the tool.
func (r *running) stop() {
	r.tty.restore()
	goesOn := make(chan os.Signal, 1)
	signal.Notify(goesOn, syscall.SIGCONT)
	unix.Kill(unix.Getpid(), unix.SIGSTOP)
	<-goesOn // the threads of a process stop one after the other: this one may be the last
	signal.Stop(goesOn)
	r.tty.raw()
	if r.tty != nil {
		r.to.Write(frame.Size, r.tty.size().Bytes())
	}
	r.to.Write(frame.Signal, []byte{byte(linuxNumber(syscall.SIGCONT))})
}

// linuxNumber is a signal's number on Linux, which is what calls are made in.
func linuxNumber(s syscall.Signal) int {
	switch s {
	case syscall.SIGUSR1:
		return 10
	case syscall.SIGUSR2:
		return 12
	case syscall.SIGCONT:
		return 18
	case syscall.SIGTSTP:
		return 20
	}
	return int(s) // the same everywhere
}

// dieOf ends this process by the signal that ended the tool, so that whoever
// waits for it sees that; it returns where that cannot be. What was typed to
// end the tool, this terminal, passing everything on, has told nobody else: the
// rest of its foreground is told now, a script that called the tool among it.
func dieOf(s syscall.Signal, typed bool) {
	to := unix.Getpid()
	if typed && (s == syscall.SIGINT || s == syscall.SIGQUIT) {
		to = 0 // this process's group
	}
	switch s {
	case syscall.SIGKILL:
		unix.Kill(to, s)
	case syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGPIPE,
		syscall.SIGALRM, syscall.SIGABRT:
		signal.Reset(s)
		unhandle(s)
		unix.Kill(to, s)
		time.Sleep(time.Second) // a signal to this process itself comes at once
	}
}
