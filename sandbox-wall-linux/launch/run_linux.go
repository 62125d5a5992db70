package launch

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/direct"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/selfpipe"
)

// Run starts the program in its sandbox and waits for its end: for its own, not
// for that of what it left in the background, which ends with it. The status is
// the program's; where there was none it is 125, 126 or 127, with an [Error].
//
// While it runs, the process' signals are its own to handle, and every
// descriptor above 2 is closed on exec from then on.
func Run(s Spec) (int, error) { return run(s, shieldsFor(os.Geteuid())) }

func run(s Spec, shields []uintptr) (int, error) {
	g := beginBy(s.Early, s.Direct != nil, shields)
	return g.Run(s)
}

// A Begun is a sandbox that package direct makes, of which nothing is there yet
// but its namespaces: while they are made, the caller finds out what is to be
// seen in it.
type Begun struct {
	b     *sandbox
	ready chan struct{} // closed when it is run, or given up: it has a spec, or none
	ended chan end
	done  bool // the same, for who calls
}

type end struct {
	status int
	err    error
}

// Begin begins one. It is then run, or given up; what keeps it from being made
// is for [Begun.Run] to say.
func Begin(e Early) *Begun { return beginBy(e, true, nil) }

func beginBy(e Early, byKernel bool, shields []uintptr) *Begun {
	g := &Begun{b: &sandbox{early: e, shields: shields}, ready: make(chan struct{}), ended: make(chan end, 1)}
	onThreadOfItsOwn(func() {
		var first *direct.First
		var failed *Error
		if byKernel {
			first, failed = g.b.beginDirect()
		}
		<-g.ready
		if g.b.spec == nil {
			g.b.giveUp(first)
			close(g.ended)
			return
		}
		if failed != nil {
			g.ended <- end{failed.Status, failed}
			return
		}
		status, err := g.b.run(first)
		g.ended <- end{status, err}
	})
	return g
}

// GiveUp ends one that was not run. After Run it does nothing.
func (g *Begun) GiveUp() {
	if g == nil || g.done {
		return
	}
	g.done = true
	close(g.ready)
	<-g.ended
	g.b.settle()
}

// Run is the function Run, for a sandbox that was begun, and as it was: the
// spec's Early and Direct are as then.
func (g *Begun) Run(s Spec) (int, error) {
	if err := s.check(); err != nil {
		g.GiveUp()
		return StatusSetup, err
	}
	if err := ownProc(); err != nil {
		g.GiveUp()
		return StatusSetup, setupError("the sandbox could not be set up", err)
	}
	if err := closeAllOnExec(); err != nil {
		g.GiveUp()
		return StatusSetup, setupError("the sandbox could not be set up", err)
	}
	g.done = true
	kept := Keep(s.Terminal)
	relay := newRelay(g.b, kept.tty)
	// Before anything is started: until then a signal that ends us leaves
	// nothing.
	relay.listen()
	defer selfpipe.Stop(relay.signals)
	s.toFront = kept.tty.foreground && takesTerminal(s.Argv, onTerminal(s.Stdin) && onTerminal(s.Stderr))
	g.b.listen, g.b.spec = relay.listen, &s
	close(g.ready)
	var e end
	go func() {
		e = <-g.ended
		close(relay.ended)
	}()
	relay.run()
	g.b.carried.Wait()
	g.b.settle()
	kept.Restore(e.status)
	return e.status, e.err
}

// onThreadOfItsOwn runs f on a thread that ends with it and is not the first
// one. By the first the kernel judges who may signal the process: were that
// restricted by Landlock, the sandbox could, where the two share a process
// group.
func onThreadOfItsOwn(f func()) {
	go func() {
		runtime.LockOSThread() // and never unlocked, so that the thread ends
		if unix.Gettid() != unix.Getpid() {
			f()
			return
		}
		defer runtime.UnlockOSThread()
		ended := make(chan struct{})
		go func() { // elsewhere, this thread being held
			runtime.LockOSThread()
			defer close(ended)
			f()
		}()
		<-ended
	}()
}
