package launch

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/selfpipe"
)

// passedOn are the signals that go on to the program.
var passedOn = []os.Signal{
	unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2,
	unix.SIGWINCH, unix.SIGTSTP, unix.SIGCONT,
	// A timer that was set before we were started, as by alarm(2), is ours: it is
	// the program's time that it bounds. By ABRT watchdogs end what hangs.
	unix.SIGALRM, unix.SIGABRT, unix.SIGIO, unix.SIGPWR,
	// By which the kernel stops a group that is behind another: we see to it
	// ourselves, so that somebody watches meanwhile.
	unix.SIGTTIN, unix.SIGTTOU,
}

// A relay passes signals on to the program.
type relay struct {
	sandbox *sandbox
	tty     terminal
	signals chan os.Signal
	// later are those that came while another was handled.
	later []syscall.Signal
	ended chan struct{}
	// wentOn is when we were let go on last.
	wentOn time.Time
	// deaf is whether SIGHUP was ignored when we started, as nohup(1) has it,
	// which then is meant for the program too. Of INT and QUIT it says nothing
	// that they are ignored: shells start so what is in the background.
	deaf bool
	// frozen is whether the program's process group was stopped by us.
	frozen bool
	// seenStopped is whether the program was stopped when it was looked at last.
	seenStopped bool
	// gave is whether the program was given the terminal.
	gave bool
	// inner is the program's own process group, which had the terminal when it
	// stopped; 0 is none.
	inner int
}

func newRelay(b *sandbox, tty terminal) *relay {
	return &relay{
		sandbox: b, tty: tty, signals: make(chan os.Signal, 32), ended: make(chan struct{}),
		deaf: signal.Ignored(unix.SIGHUP),
	}
}

func (r *relay) listen() {
	for _, s := range passedOn {
		if s != unix.SIGHUP || !r.deaf {
			selfpipe.Notify(r.signals, s)
		}
	}
}

// run passes signals on until the sandbox has ended.
func (r *relay) run() {
	var grace, look <-chan time.Time
	if r.tty.fd >= 0 {
		every := time.NewTicker(noticeEvery)
		defer every.Stop()
		look = every.C
	}
	handle := func(s syscall.Signal) {
		r.handle(s)
		if grace == nil && endsAll(s) {
			grace = time.After(graceTime)
		}
	}
	for {
		for len(r.later) > 0 {
			s := r.later[0]
			r.later = r.later[1:]
			handle(s)
		}
		select {
		case <-r.ended:
			return
		case <-grace:
			r.sandbox.kill()
		case <-look:
			r.notice()
		case s := <-r.signals:
			handle(s.(syscall.Signal))
		}
	}
}

// letGoOn is whether we have been let go on since the signal that stops came which
// is handled: it is worth nothing then (signal(7)). Whatever else came is handled
// later, but for what would stop us once more.
func (r *relay) letGoOn() bool {
	for {
		select {
		case s := <-r.signals:
			if s != unix.SIGTSTP {
				r.later = append(r.later, s.(syscall.Signal))
			}
		default:
			return slices.Contains(r.later, unix.SIGCONT)
		}
	}
}

// endsAll are signals after which a program may not go on for ever.
func endsAll(s os.Signal) bool {
	return s == unix.SIGTERM || s == unix.SIGHUP || s == unix.SIGQUIT
}

func (r *relay) handle(s syscall.Signal) {
	switch {
	case (endsAll(s) || s == unix.SIGINT) && r.sandbox.abort(s):
	case r.typed(s) && s == unix.SIGTSTP:
		r.stopWithProgram() // who has got it as we have
	case r.typed(s):
	case s == unix.SIGTSTP:
		r.stop()
	case s == unix.SIGTTIN || s == unix.SIGTTOU:
		r.stopBehind()
	case s == unix.SIGCONT:
		r.goOn()
		r.wentOn = time.Now()
	default:
		r.send(s)
	}
}

// typed is whether a signal was sent by the terminal, and so to the program as
// well. The two cannot be told apart for sure; what is sent to the foreground
// by kill(1) is taken for typed.
func (r *relay) typed(s syscall.Signal) bool {
	switch s {
	case unix.SIGINT, unix.SIGQUIT, unix.SIGTSTP, unix.SIGWINCH:
		return r.tty.ours()
	}
	return false
}

// programPatience bounds the wait for a program that is just being started.
const programPatience = time.Second

// program waits until there is a program.
func (r *relay) program() (pidfd int, is process, ok bool) {
	for deadline := time.Now().Add(programPatience); time.Now().Before(deadline); {
		if pidfd, is, err := r.sandbox.program(); err == nil {
			return pidfd, is, true
		}
		if r.waiting() {
			break // which may be one that ends it
		}
		select {
		case <-r.ended:
			return -1, process{}, false
		case <-time.After(time.Millisecond):
		}
	}
	return -1, process{}, false
}

// waiting is whether there are signals to be handled.
func (r *relay) waiting() bool { return len(r.later)+len(r.signals) > 0 }

func (r *relay) send(s syscall.Signal) {
	if pidfd, _, ok := r.program(); ok {
		_ = unix.PidfdSendSignal(pidfd, s, nil, 0)
		unix.Close(pidfd)
	}
}

// stop stops the program as Ctrl-Z would, and then us, so that the shell that
// started us sees a stopped job. The kernel drops SIGTSTP for a process group
// that no shell of its session looks after, as that of a program without a
// terminal is (POSIX: orphaned); one that does not catch it is stopped by
// SIGSTOP, with its process group.
func (r *relay) stop() {
	// Two threads may take a stop and what undoes it in the other order.
	late := time.Since(r.wentOn) < ownPatience
	pidfd, is, ok := r.program()
	if !ok {
		return
	}
	defer unix.Close(pidfd)
	switch {
	case is.ignores(unix.SIGTSTP), r.letGoOn():
		return
	case r.sandbox.spec.Terminal && r.stopsByItself():
	case r.sandbox.spec.Terminal && late:
		return
	case r.sandbox.spec.Terminal, is.catches(unix.SIGTSTP):
		_ = unix.PidfdSendSignal(pidfd, unix.SIGTSTP, nil, 0)
	default:
		// The first process leads the session and the group that is the
		// program's; from outside it can be stopped.
		if first := r.sandbox.first(); first != 0 {
			r.frozen = unix.Kill(-first, unix.SIGSTOP) == nil
		}
	}
	r.stopWithProgram()
}

// ownPatience bounds the wait for a program in our process group to stop, or to go
// on, of what was sent to the whole group.
const ownPatience = 50 * time.Millisecond

func (r *relay) stopsByItself() bool {
	for deadline := time.Now().Add(ownPatience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if r.programStopped() || r.letGoOn() {
			return true
		}
	}
	return false
}

// stopPatience bounds the wait for a program that cleans up before it stops.
const stopPatience = 3 * time.Second

// stopWithProgram stops us once the program has stopped, and no sooner: until
// it has, it reads what is typed for the shell. One that does not stop goes on,
// and so do we.
func (r *relay) stopWithProgram() {
	wait := time.Millisecond
	for deadline := time.Now().Add(stopPatience); time.Now().Before(deadline); wait = min(2*wait, 50*time.Millisecond) {
		pidfd, is, ok := r.program()
		if !ok {
			return
		}
		unix.Close(pidfd)
		if r.letGoOn() || slices.ContainsFunc(r.later, func(s syscall.Signal) bool { return s == unix.SIGINT || endsAll(s) }) {
			return
		}
		if r.stopped(is) {
			r.stopUs(r.programStopped)
			return
		}
		select {
		case <-r.ended:
			return
		case <-time.After(wait):
		}
	}
}

func (r *relay) stopped(is process) bool {
	return is.stopped() || is.state == 'D' && r.stoppedInVfork()
}

// programStopped is whether there is a program, and it is stopped now.
func (r *relay) programStopped() bool {
	pidfd, is, err := r.sandbox.program()
	if err != nil {
		return false
	}
	unix.Close(pidfd)
	return r.stopped(is)
}

// stoppedInVfork is whether the program waits for a child that was stopped
// before it was another program (vfork(2)): then nobody sees it stopped.
func (r *relay) stoppedInVfork() bool {
	started := children(r.sandbox.first())
	if len(started) == 0 {
		return false
	}
	for _, child := range children(started[0]) { // of the program
		if p, err := statusOf(child); err == nil && p.stopped() {
			return true
		}
	}
	return false
}

// goOnPatience is how long a program may stay stopped after us, before nobody
// else is taken to let it go on.
const goOnPatience = 100 * time.Millisecond

// goOn lets the program go on. One on a terminal is let by the shell, with us;
// only one that stays behind was not, and not one that is stopped anew.
func (r *relay) goOn() {
	if r.inner != 0 && r.tty.ours() {
		r.tty.become(r.inner)
	}
	r.inner = 0
	if r.frozen {
		r.frozen = false
		if first := r.sandbox.first(); first != 0 {
			_ = unix.Kill(-first, unix.SIGCONT)
		}
		return
	}
	if r.tty.fd >= 0 {
		for deadline := time.Now().Add(goOnPatience); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
			pidfd, is, ok := r.program()
			if !ok {
				return
			}
			unix.Close(pidfd)
			if !is.stopped() || r.waiting() {
				return
			}
		}
	}
	r.send(unix.SIGCONT)
}
