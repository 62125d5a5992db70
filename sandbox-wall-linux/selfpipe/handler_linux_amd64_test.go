package selfpipe

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// TestStopSetsBack looks at what a signal does before and after, and that
// os/signal has it again.
func TestStopSetsBack(t *testing.T) {
	of := func() action {
		a := ours()
		before := set(syscall.SIGUSR1, a)
		set(syscall.SIGUSR1, before)
		return before
	}
	before := of()
	c := make(chan os.Signal, 8)
	Notify(c, syscall.SIGUSR1)
	Notify(c, syscall.SIGUSR1)
	if of().handler != ours().handler {
		t.Error("the handler is not ours")
	}
	Stop(c)
	if of() != before {
		t.Error("what was before is not set back")
	}
	signal.Notify(c, syscall.SIGUSR1)
	defer signal.Stop(c)
	kill(t, syscall.SIGUSR1)
	next(t, c)
}
