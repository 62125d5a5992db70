package tunnel

import (
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Pipes are lent up to the limit, and what is given back not empty is not lent
// again.
func TestPipes(t *testing.T) {
	var all []*held
	for range maxPipes {
		h := new(held)
		if !h.getPipe() {
			t.Fatalf("no pipe after %d", len(all))
		}
		all = append(all, h)
	}
	if h := new(held); h.getPipe() {
		t.Errorf("more than %d pipes are lent", maxPipes)
	}
	dirty := all[0].pipe
	for i, h := range all {
		h.putPipe(i > 0)
		h.putPipe(true)
	}
	if n := lent.Load(); n != 0 {
		t.Errorf("%d pipes are lent after all were given back", n)
	}
	for range len(spare) {
		p := <-spare
		if p == dirty {
			t.Error("a pipe with bytes in it is lent again")
		}
		p.close()
	}
}

// A stream that moves much is spliced, one that does not is not, and nothing
// stays lent.
func TestSplices(t *testing.T) {
	near, program := tcpPair(t)
	far, origin := tcpPair(t)
	tn := &Tunnel{Near: near, Far: far}
	done := make(chan error)
	go func() { done <- tn.Run() }()
	io.WriteString(origin, "small")
	io.ReadFull(program, make([]byte, 5))
	if len(spare) != 0 {
		t.Error("a small move took a pipe")
	}
	go func() {
		for range 32 {
			origin.Write(make([]byte, 1<<20))
		}
		origin.Close()
	}()
	time.Sleep(50 * time.Millisecond) // much is waiting: the moves are bulky
	io.Copy(io.Discard, program)
	program.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if len(spare) == 0 {
		t.Error("much was moved and no pipe was used")
	}
	if n := lent.Load(); n != 0 {
		t.Errorf("%d pipes are lent after the end", n)
	}
}

// In a pause nothing is taken from the program: it stays in its socket, and
// fills it.
func TestPauseReadsNothing(t *testing.T) {
	near, program := tcpPair(t)
	far, origin := tcpPair(t)
	var valve Valve
	tn := &Tunnel{Near: near, Far: far, Valve: &valve}
	done := make(chan error)
	go func() { done <- tn.Run() }()
	io.WriteString(program, "a")
	io.ReadFull(origin, make([]byte, 1))
	valve.Shut()
	io.WriteString(program, "bcd")
	time.Sleep(50 * time.Millisecond)
	raw, err := near.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	waiting := 0
	raw.Control(func(fd uintptr) { waiting, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	if waiting != 3 || err != nil {
		t.Errorf("%d bytes wait in the socket (%v), want 3", waiting, err)
	}
	tn.Cut()
	<-done
}
