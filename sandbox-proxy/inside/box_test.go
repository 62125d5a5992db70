//go:build linux

package inside

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/names"
)

// box is a program in a network of its own, and what the proxy would do
// outside: it says on each connection what it takes it for.
type box struct {
	*Listeners
	cmd    *exec.Cmd
	pool   *names.Pool
	stdin  interface{ Close() error }
	stdout bytes.Buffer
	stderr bytes.Buffer
	served sync.WaitGroup
}

// open starts argv, by way of the role that plays the stage. The test's
// goroutine keeps its thread until the program has ended.
func openBox(t testing.TB, role string, want Want, argv ...string) *box {
	t.Helper()
	b := &box{cmd: exec.Command(self, role), pool: names.NewPool(nil)}
	b.cmd.Stdout, b.cmd.Stderr = &b.stdout, &b.stderr
	in, err := b.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	b.stdin = in
	h, err := prepareFor(role)(b.cmd, want)
	if err != nil {
		t.Fatal(err)
	}
	b.cmd.Args = append(append(b.cmd.Args, want.Flags(h.FD())...), argv...)
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	if err := h.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.cmd.Process.Kill()
		b.cmd.Wait()
		if b.Listeners != nil {
			b.Close()
			b.served.Wait()
		}
	})
	if b.Listeners, err = h.Receive(t.Context()); err == nil {
		err = h.Starting()
	}
	if err != nil {
		b.cmd.Wait()
		t.Fatalf("%v\n%s", err, b.stderr.String())
	}
	b.serve()
	if err := h.Go(); err != nil {
		t.Fatal(err)
	}
	return b
}

// run is a box whose program has ended; it gives what that printed, by line.
func run(t testing.TB, role string, want Want, argv ...string) (*box, []string) {
	t.Helper()
	b := openBox(t, role, want, argv...)
	return b, b.wait(t)
}

func (b *box) wait(t testing.TB) []string {
	t.Helper()
	b.stdin.Close()
	ended := make(chan error, 1)
	go func() { ended <- b.cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the program: %v\n%s%s", err, b.stdout.String(), b.stderr.String())
		}
	case <-time.After(hang):
		b.cmd.Process.Kill()
		<-ended
		t.Fatalf("the program hangs:\n%s%s", b.stdout.String(), b.stderr.String())
	}
	return strings.Split(strings.TrimSpace(b.stdout.String()), "\n")
}

func (b *box) serve() {
	say := func(l net.Listener, what func(net.Conn) string) {
		b.served.Go(func() {
			for {
				c, err := l.Accept()
				if errors.Is(err, net.ErrClosed) {
					return
				}
				if err != nil {
					panic(err)
				}
				fmt.Fprintln(c, what(c))
				c.Close()
			}
		})
	}
	for _, l := range b.Proxy {
		say(l, func(net.Conn) string { return "the proxy" })
	}
	for port, all := range b.Ports {
		for _, l := range all {
			say(l, func(net.Conn) string { return fmt.Sprint("port ", port) })
		}
	}
	for _, l := range b.Transparent {
		say(l, func(c net.Conn) string {
			dst, err := OriginalDst(c)
			if err != nil {
				return err.Error()
			}
			if name, ok := b.pool.Name(dst.Addr()); ok {
				return fmt.Sprintf("%s:%d", name, dst.Port())
			}
			return dst.String()
		})
	}
	dns := &names.Server{
		Allowed: func(name string) bool { return strings.HasSuffix(name, ".allowed.example") },
		Pool:    b.pool, IPv6: b.IPv6,
	}
	for _, p := range b.DNSPackets {
		b.served.Go(func() { dns.ServeUDP(p) })
	}
	for _, l := range b.DNSStreams {
		b.served.Go(func() { dns.ServeTCP(l) })
	}
}

// descriptors is how many this process has open.
func descriptors(t testing.TB) int {
	t.Helper()
	// The runtime opens two of its own when it first waits for one.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	w.Close()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}
