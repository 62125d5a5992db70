package tunnel_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tunnel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 20 * time.Second

// pair gives the two ends of a connection.
func pair(t *testing.T, network string) (a, b net.Conn) {
	t.Helper()
	at := "127.0.0.1:0"
	if network == "unix" {
		at = filepath.Join(t.TempDir(), "s")
	}
	l, err := net.Listen(network, at)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err = net.Dial(network, l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []net.Conn{a, b} {
		c.SetDeadline(time.Now().Add(patience))
		t.Cleanup(func() { c.Close() })
	}
	return a, b
}

// opaque hides that a connection is a socket of the system's.
type opaque struct{ net.Conn }

func (o opaque) CloseWrite() error { return o.Conn.(interface{ CloseWrite() error }).CloseWrite() }

// A rig is a tunnel between a program and an origin, running.
type rig struct {
	program, origin net.Conn
	tunnel          *tunnel.Tunnel
	meter           *tunnel.Meter
	done            chan error
}

func newRig(t *testing.T, set func(*tunnel.Tunnel)) *rig { return newRigOn(t, "tcp", "tcp", set) }

func newRigOn(t *testing.T, near, far string, set func(*tunnel.Tunnel)) *rig {
	t.Helper()
	r := &rig{meter: new(tunnel.Meter), done: make(chan error, 1)}
	r.tunnel = &tunnel.Tunnel{Meter: r.meter, Idle: time.Hour, Drain: time.Hour}
	r.program, r.tunnel.Near = pair(t, near)
	r.origin, r.tunnel.Far = pair(t, far)
	if set != nil {
		set(r.tunnel)
	}
	go func() { r.done <- r.tunnel.Run() }()
	t.Cleanup(r.tunnel.Cut)
	return r
}

func (r *rig) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.done:
		return err
	case <-time.After(patience):
		t.Fatal("the tunnel does not end")
		return nil
	}
}

func closeWrite(t *testing.T, c net.Conn) {
	t.Helper()
	if err := c.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
}

func send(t *testing.T, c net.Conn, s string) {
	t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		t.Fatal(err)
	}
}

func receive(t *testing.T, c net.Conn, want string) {
	t.Helper()
	b := make([]byte, len(want))
	if n, err := io.ReadFull(c, b); string(b[:n]) != want {
		t.Fatalf("received %q (%v), want %q", b[:n], err, want)
	}
}

func wantEnd(t *testing.T, c net.Conn) {
	t.Helper()
	if b, err := io.ReadAll(c); len(b) > 0 || err != nil {
		t.Fatalf("at the end: %q %v", b, err)
	}
}

// Every kind of connection, both ways, in bulk: the bytes are the same and all
// are counted.
func TestBulk(t *testing.T) {
	const size = 24 << 20
	data := make([]byte, size)
	rand.Read(data)
	sum := sha256.Sum256(data)
	for _, c := range []struct{ near, far string }{{"tcp", "tcp"}, {"unix", "tcp"}, {"tcp", "unix"}, {"unix", "unix"}, {"hidden", "tcp"}, {"tcp", "hidden"}} {
		t.Run(c.near+" "+c.far, func(t *testing.T) {
			near, far := strings.Replace(c.near, "hidden", "tcp", 1), strings.Replace(c.far, "hidden", "tcp", 1)
			r := newRigOn(t, near, far, func(tn *tunnel.Tunnel) {
				if c.near == "hidden" {
					tn.Near = opaque{tn.Near}
				}
				if c.far == "hidden" {
					tn.Far = opaque{tn.Far}
				}
				tn.FromNear, tn.FromFar = []byte("early up"), []byte("early down")
			})
			both := make(chan string, 2)
			carry := func(from, to net.Conn, early string) {
				go func() {
					from.Write(data)
					from.(interface{ CloseWrite() error }).CloseWrite()
				}()
				go func() {
					b := make([]byte, len(early))
					io.ReadFull(to, b)
					h := sha256.New()
					n, err := io.Copy(h, to)
					if string(b) != early || n != size || err != nil || !bytes.Equal(h.Sum(nil), sum[:]) {
						both <- string(b) + ": other bytes arrived"
						return
					}
					both <- ""
				}()
			}
			carry(r.program, r.origin, "early up")
			carry(r.origin, r.program, "early down")
			for range 2 {
				if fault := <-both; fault != "" {
					t.Error(fault)
				}
			}
			if err := r.wait(t); err != nil {
				t.Error(err)
			}
			if r.meter.Up() != size+8 || r.meter.Down() != size+10 {
				t.Errorf("counted %d up, %d down", r.meter.Up(), r.meter.Down())
			}
		})
	}
}

func TestHalfClose(t *testing.T) {
	for _, hidden := range []bool{false, true} {
		set := func(tn *tunnel.Tunnel) {
			if hidden {
				tn.Near, tn.Far = opaque{tn.Near}, opaque{tn.Far}
			}
		}
		r := newRig(t, set)
		send(t, r.program, "req")
		closeWrite(t, r.program)
		if b, err := io.ReadAll(r.origin); string(b) != "req" || err != nil {
			t.Fatalf("%q %v", b, err)
		}
		send(t, r.origin, "resp")
		r.origin.Close()
		if b, err := io.ReadAll(r.program); string(b) != "resp" || err != nil {
			t.Fatalf("%q %v", b, err)
		}
		if err := r.wait(t); err != nil {
			t.Error(err)
		}

		r = newRig(t, set)
		send(t, r.origin, "hello")
		closeWrite(t, r.origin)
		receive(t, r.program, "hello")
		wantEnd(t, r.program)
		up := strings.Repeat("x", 4<<20)
		go func() {
			io.WriteString(r.program, up)
			r.program.Close()
		}()
		if b, err := io.ReadAll(r.origin); string(b) != up || err != nil {
			t.Fatalf("%d bytes, %v", len(b), err)
		}
		if err := r.wait(t); err != nil {
			t.Error(err)
		}
	}
}

// A reset of one side is a reset for the other, not an end.
func TestReset(t *testing.T) {
	r := newRig(t, nil)
	send(t, r.origin, "part")
	receive(t, r.program, "part")
	r.origin.(*net.TCPConn).SetLinger(0)
	r.origin.Close()
	if _, err := io.ReadAll(r.program); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the program sees %v", err)
	}
	if err := r.wait(t); err == nil {
		t.Error("a reset ended well")
	}
}

// A program that has left altogether ends the way from the origin as soon as
// that says something.
func TestGone(t *testing.T) {
	r := newRig(t, nil)
	r.program.Close()
	end := time.Now().Add(patience)
	for {
		if _, err := io.WriteString(r.origin, "x"); err != nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the origin writes for ever")
		}
		time.Sleep(time.Millisecond)
	}
	r.wait(t)
}

func TestCut(t *testing.T) {
	r := newRig(t, nil)
	send(t, r.program, "x")
	receive(t, r.origin, "x")
	r.tunnel.Cut()
	r.tunnel.Cut()
	if err := r.wait(t); err != tunnel.ErrCut {
		t.Errorf("ended with %v", err)
	}
	for _, c := range []net.Conn{r.program, r.origin} {
		if _, err := io.ReadAll(c); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("cut looks like %v", err)
		}
	}
	before := &tunnel.Tunnel{}
	_, before.Near = pair(t, "tcp")
	_, before.Far = pair(t, "tcp")
	before.Cut()
	if err := before.Run(); err != tunnel.ErrCut {
		t.Errorf("cut before it ran: %v", err)
	}
}

// Silence ends a tunnel; a byte now and then does not.
func TestIdle(t *testing.T) {
	r := newRig(t, func(tn *tunnel.Tunnel) { tn.Idle = 400 * time.Millisecond })
	for range 12 {
		send(t, r.program, "x")
		receive(t, r.origin, "x")
		time.Sleep(50 * time.Millisecond)
	}
	if err := r.wait(t); err != tunnel.ErrIdle {
		t.Errorf("ended with %v", err)
	}
}

// After one end the rest is bounded from its last byte, not from the end.
func TestDrain(t *testing.T) {
	r := newRig(t, func(tn *tunnel.Tunnel) { tn.Drain = 400 * time.Millisecond })
	closeWrite(t, r.program)
	wantEnd(t, r.origin)
	for range 12 {
		send(t, r.origin, "x")
		receive(t, r.program, "x")
		time.Sleep(50 * time.Millisecond)
	}
	if err := r.wait(t); err != tunnel.ErrIdle {
		t.Errorf("ended with %v", err)
	}
}

// A pause stands still, both ways and both clocks; what was sent comes after.
func TestPause(t *testing.T) {
	var valve tunnel.Valve
	r := newRig(t, func(tn *tunnel.Tunnel) { tn.Valve, tn.Idle = &valve, 300*time.Millisecond })
	send(t, r.program, "a")
	receive(t, r.origin, "a")
	valve.Shut()
	valve.Shut()
	send(t, r.program, "bb")
	send(t, r.origin, "ccc")
	time.Sleep(600 * time.Millisecond)
	if r.meter.Up() != 1 || r.meter.Down() != 0 {
		t.Errorf("%d up and %d down moved", r.meter.Up(), r.meter.Down())
	}
	valve.Open()
	valve.Open()
	receive(t, r.origin, "bb")
	receive(t, r.program, "ccc")
	valve.Shut()
	send(t, r.program, "d")
	time.Sleep(20 * time.Millisecond)
	r.tunnel.Cut()
	if err := r.wait(t); err != tunnel.ErrCut {
		t.Errorf("ended with %v", err)
	}
}

// A pause in the middle of much loses nothing.
func TestPauseInBulk(t *testing.T) {
	var valve tunnel.Valve
	r := newRig(t, func(tn *tunnel.Tunnel) { tn.Valve = &valve })
	data := make([]byte, 32<<20)
	rand.Read(data)
	go func() {
		r.origin.Write(data)
		r.origin.(*net.TCPConn).CloseWrite()
	}()
	got := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(r.program)
		got <- b
	}()
	for range 20 {
		time.Sleep(2 * time.Millisecond)
		valve.Shut()
		time.Sleep(2 * time.Millisecond)
		at := r.meter.Down()
		time.Sleep(3 * time.Millisecond)
		if moved := r.meter.Down() - at; moved > 2<<20 {
			t.Errorf("%d bytes moved in a pause", moved)
		}
		valve.Open()
	}
	if b := <-got; !bytes.Equal(b, data) {
		t.Errorf("%d bytes of %d arrived, or others", len(b), len(data))
	}
}

func TestMeters(t *testing.T) {
	var all tunnel.Meter
	a, b := tunnel.NewMeter(&all), tunnel.NewMeter(&all)
	a.Add(1, 2)
	b.Add(10, 20)
	if a.Up() != 1 || b.Down() != 20 || all.Up() != 11 || all.Down() != 22 {
		t.Errorf("%d %d %d %d", a.Up(), b.Down(), all.Up(), all.Down())
	}
}

// A tunnel that waits holds no pipe, however much went through it.
func TestIdleHoldsNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs linux: pipes are counted in /proc")
	}
	chunk := strings.Repeat("x", 4<<20)
	for range 40 {
		r := newRig(t, nil)
		go io.WriteString(r.origin, chunk)
		if n, err := io.CopyN(io.Discard, r.program, int64(len(chunk))); err != nil {
			t.Fatal(n, err)
		}
	}
	deadline := time.Now().Add(patience)
	for n := pipes(t); n > 2*16; n = pipes(t) {
		if time.Now().After(deadline) {
			t.Fatalf("%d ends of pipes are open beside 40 idle tunnels", n)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func pipes(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range all {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(to, "pipe:") {
			n++
		}
	}
	return n
}
