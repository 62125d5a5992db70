package proxy_test

import (
	"runtime"
	"strings"
	"testing"
)

// A tunnel that waits keeps two goroutines with little on their stacks. The one
// that read the request and dialled, whose stack has grown, is gone on to the
// next connection.
func TestIdleTunnelsAreSmall(t *testing.T) {
	const tunnels = 40
	l := newLab(t, hosts("ok.test:7"))
	l.origin("ok.test", 7, echo)
	for range tunnels {
		if got := l.connect("ok.test:7").say("ping").read(4); got != "ping" {
			t.Fatalf("%q", got)
		}
	}
	eventually(t, "two goroutines a tunnel, no deeper than the tunnel's own calls", func() bool {
		ways := 0
		for _, stack := range goroutines() {
			if strings.Contains(stack, ".(*Proxy).serveConnect(") {
				return false
			}
			if strings.Contains(stack, "/tunnel.(*Tunnel).move(") {
				ways++
			}
		}
		return ways == 2*tunnels
	})
}

// However many came at once, few goroutines wait for the next connection.
func TestFewWait(t *testing.T) {
	l := newLab(t, hosts("ok.test:7"))
	l.origin("ok.test", 7, echo)
	var all []*client
	for range 100 {
		all = append(all, l.client())
	}
	for _, c := range all {
		c.Close()
	}
	eventually(t, "16 that wait", func() bool {
		wait := 0
		for _, stack := range goroutines() {
			if strings.Contains(stack, ".(*Proxy).serveConns(") {
				wait++
			}
		}
		return wait == 16
	})
}

func goroutines() []string {
	buf := make([]byte, 4<<20)
	return strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
}
