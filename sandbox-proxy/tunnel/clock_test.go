package tunnel

import (
	"net"
	"testing"
	"time"
)

// Silence is counted from the end of a pause, also where the clock looks
// before anything has moved again.
func TestPauseIsNoSilence(t *testing.T) {
	long := int64(time.Since(epoch) - 2*time.Hour)
	for _, c := range []struct {
		name  string
		valve func(*Valve)
		ends  bool
	}{
		{"never paused", func(v *Valve) { v.since.Store(long) }, true},
		{"paused", func(v *Valve) { v.Shut() }, false},
		{"just opened", func(v *Valve) { v.Shut(); v.Open() }, false},
		{"opened long ago", func(v *Valve) { v.Shut(); v.Open(); v.since.Store(long) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			near, _ := tcpPair(t)
			far, _ := tcpPair(t)
			tn := &Tunnel{Near: near, Far: far, Idle: time.Hour, Valve: new(Valve)}
			done := make(chan error, 1)
			tn.Start(func(err error) { done <- err })
			tn.clock.last.Store(long)
			c.valve(tn.Valve)
			tn.clock.check(tn)
			if c.ends {
				if err := <-done; err != ErrIdle {
					t.Errorf("ended with %v, want %v", err, ErrIdle)
				}
				return
			}
			select {
			case err := <-done:
				t.Errorf("ended with %v", err)
			case <-time.After(20 * time.Millisecond):
			}
			tn.Cut()
			<-done
		})
	}
}

func tcpPair(t *testing.T) (a, b net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if a, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if b, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}
