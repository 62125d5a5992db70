package selfpipe

import (
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const patience = 20 * time.Second

func next(t *testing.T, from <-chan os.Signal) os.Signal {
	t.Helper()
	select {
	case s := <-from:
		return s
	case <-time.After(patience):
		t.Fatal("no signal came")
		return nil
	}
}

func kill(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(syscall.Getpid(), s); err != nil {
		t.Fatal(err)
	}
}

func TestEachChannelHasWhatItAskedFor(t *testing.T) {
	one, two := make(chan os.Signal, 8), make(chan os.Signal, 8)
	Notify(one, syscall.SIGUSR1, syscall.SIGTERM)
	Notify(two, syscall.SIGUSR1)
	defer Stop(one)
	kill(t, syscall.SIGUSR1)
	if got := next(t, one); got != syscall.SIGUSR1 {
		t.Fatalf("got %v", got)
	}
	if got := next(t, two); got != syscall.SIGUSR1 {
		t.Fatalf("got %v", got)
	}
	Stop(two)
	for _, s := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGTERM} {
		kill(t, s)
		if got := next(t, one); got != s {
			t.Errorf("got %v, want %v", got, s)
		}
	}
	if len(two) != 0 {
		t.Error("a channel that asked no more was sent a signal")
	}
}

// TestAFullChannelHoldsNobodyUp sends more than a channel takes.
func TestAFullChannelHoldsNobodyUp(t *testing.T) {
	full, other := make(chan os.Signal, 1), make(chan os.Signal, 64)
	Notify(full, syscall.SIGUSR2)
	Notify(other, syscall.SIGUSR2)
	defer Stop(full)
	defer Stop(other)
	for range 8 {
		kill(t, syscall.SIGUSR2)
		next(t, other)
	}
	if len(full) != 1 {
		t.Errorf("the full channel holds %d", len(full))
	}
}

// TestAfterBeingIgnored asks again for what os/signal has ignored and let go in
// between.
func TestAfterBeingIgnored(t *testing.T) {
	c := make(chan os.Signal, 8)
	Notify(c, syscall.SIGUSR1)
	defer Stop(c)
	signal.Ignore(syscall.SIGUSR1)
	signal.Reset(syscall.SIGUSR1)
	Notify(c, syscall.SIGUSR1)
	kill(t, syscall.SIGUSR1)
	next(t, c)
}

// TestUnderLoad has signals come while goroutines use their stacks to the full,
// are collected and made, and call the kernel.
func TestUnderLoad(t *testing.T) {
	c := make(chan os.Signal, 1024)
	Notify(c, syscall.SIGUSR1)
	defer Stop(c)
	var working sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		working.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					if deep(200) == 0 {
						t.Error("a sum is wrong")
					}
					runtime.GC()
				}
			}
		})
	}
	for range 300 {
		kill(t, syscall.SIGUSR1)
		next(t, c)
	}
	close(done)
	working.Wait()
}

//go:noinline
func deep(n int) int {
	var room [256]byte
	room[n%len(room)] = byte(n)
	if n == 0 {
		return 1
	}
	return deep(n-1) + int(room[(n+1)%len(room)])
}

// TestAnExecutedProgramHasTheDefault starts one that a signal ends.
func TestAnExecutedProgramHasTheDefault(t *testing.T) {
	c := make(chan os.Signal, 8)
	Notify(c, syscall.SIGTERM)
	defer Stop(c)
	out, err := exec.Command("sh", "-c", "kill -TERM $$; echo alive").CombinedOutput()
	if err == nil || strings.Contains(string(out), "alive") {
		t.Errorf("the program outlived the signal: %q", out)
	}
}
