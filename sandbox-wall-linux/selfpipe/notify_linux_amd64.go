package selfpipe

import (
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// writeEnd is where the handler writes. It is set before there is a handler,
// and never closed: a handler may be about to write.
//
//lint:ignore U1000 it is used in assembly
var writeEnd int32

// addresses gives those of the handler, and of what it returns to (signal
// return, sigreturn(2)).
func addresses() (handler, restorer uintptr)

// Flags of an action, from asm-generic/signal-defs.h and asm/signal.h.
const (
	onStack  = 0x08000000
	restart  = 0x10000000
	restores = 0x04000000
)

var caught struct {
	mu     sync.Mutex
	opened bool
	to     map[chan<- os.Signal][]syscall.Signal
	before map[syscall.Signal]action // what is set back
}

// Notify has signals sent to a channel, which are dropped when it is full
// ([signal.Notify]). What was asked for already stays, and is asked for again
// of the kernel.
func Notify(to chan<- os.Signal, signals ...os.Signal) {
	caught.mu.Lock()
	defer caught.mu.Unlock()
	if !caught.opened {
		if err := open(); err != nil {
			signal.Notify(to, signals...)
			return
		}
		caught.opened = true
		caught.to = map[chan<- os.Signal][]syscall.Signal{}
		caught.before = map[syscall.Signal]action{}
	}
	for _, s := range signals {
		n := s.(syscall.Signal)
		if !slices.Contains(caught.to[to], n) {
			caught.to[to] = append(caught.to[to], n)
		}
		before := set(n, ours())
		if _, is := caught.before[n]; !is {
			caught.before[n] = before
		}
	}
}

// Stop sends no more signals to a channel, and lets those that go to no other
// one do again what they did.
func Stop(to chan<- os.Signal) {
	signal.Stop(to) // it may have been its
	caught.mu.Lock()
	defer caught.mu.Unlock()
	signals := caught.to[to]
	delete(caught.to, to)
	for _, s := range signals {
		if !wanted(s) {
			set(s, caught.before[s])
			delete(caught.before, s)
		}
	}
}

func wanted(s syscall.Signal) bool {
	for _, signals := range caught.to {
		if slices.Contains(signals, s) {
			return true
		}
	}
	return false
}

// open makes the pipe, and begins to read it.
func open() error {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return err
	}
	writeEnd = int32(ends[1])
	read := os.NewFile(uintptr(ends[0]), "signals")
	go func() {
		var numbers [64]byte
		for {
			n, err := read.Read(numbers[:])
			if err != nil {
				return // never: the other end stays open
			}
			for _, s := range numbers[:n] {
				send(syscall.Signal(s))
			}
		}
	}()
	return nil
}

func send(s syscall.Signal) {
	caught.mu.Lock()
	defer caught.mu.Unlock()
	for to, signals := range caught.to {
		if slices.Contains(signals, s) {
			select {
			case to <- s:
			default:
			}
		}
	}
}

// ours runs on the stack that Go's runtime has for handlers, with every signal
// blocked: a goroutine's own stack may have no room left.
func ours() action {
	handler, restorer := addresses()
	return action{handler: handler, flags: onStack | restart | restores, restorer: restorer, mask: ^uint64(0)}
}
