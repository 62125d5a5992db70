package launch

import (
	"os"
	"os/signal"
	"runtime"

	"golang.org/x/sys/unix"
)

// Run starts the program in its sandbox and waits for its end: for its own, not
// for that of what it left in the background, which ends with it. The status is
// the program's; where there was none it is 125, 126 or 127, with an [Error].
//
// While it runs, the process' signals are its own to handle, and every
// descriptor above 2 is closed on exec from then on.
func Run(s Spec) (int, error) {
	return run(s, shieldsFor(os.Geteuid()))
}

func run(s Spec, shields []uintptr) (int, error) {
	if err := s.check(); err != nil {
		return StatusSetup, err
	}
	if err := ownProc(); err != nil {
		return StatusSetup, setupError("the sandbox could not be set up", err)
	}
	if err := closeAllOnExec(); err != nil {
		return StatusSetup, setupError("the sandbox could not be set up", err)
	}
	b := &sandbox{spec: &s, shields: shields}
	kept := Keep(s.Terminal)
	relay := newRelay(b, kept.tty)
	// Before anything is started: until then a signal that ends us leaves
	// nothing.
	relay.listen()
	defer signal.Stop(relay.signals)
	b.listen = relay.listen
	type end struct {
		status int
		err    error
	}
	ended := make(chan end, 1)
	onThreadOfItsOwn(func() {
		status, err := b.run()
		ended <- end{status, err}
		close(relay.ended)
	})
	relay.run()
	e := <-ended
	b.carried.Wait()
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
