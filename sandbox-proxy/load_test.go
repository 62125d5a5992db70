package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// memory is what the heap holds once it was tidied, in MiB.
func memory() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc >> 20
}

// Ten thousand calls that never get anywhere: half a head, a byte of one now
// and then, a header line of a MiB, hosts that never answer. Others are served
// all the while, and what is held of them is bounded.
func TestLoad(t *testing.T) {
	hang := make(chan struct{})
	hangs := make(chan struct{}, 1<<16)
	l := newLab(t, hosts("ok.test:7", "hang.test:7"), with(func(_ *judge.Rules, c *proxy.Config) {
		dial := c.Dial
		c.Dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			if to.Addr() != netip.MustParseAddr("192.0.2.99") {
				return dial(ctx, to)
			}
			hangs <- struct{}{}
			select {
			case <-ctx.Done():
			case <-hang:
			}
			return nil, errors.New("no answer")
		}
	}))
	l.name("hang.test", "192.0.2.99")
	l.origin("ok.test", 7, echo)
	served := func(when string) {
		t.Helper()
		c := l.connect("ok.test:7")
		if got := c.say("ping").read(4); got != "ping" {
			t.Fatalf("%s: %q", when, got)
		}
		c.Close()
	}
	before := memory()

	// More hosts that do not answer than calls may be connected at once.
	var open []net.Conn
	defer func() {
		for _, c := range open {
			c.Close()
		}
	}()
	for range 200 {
		c := l.client()
		fmt.Fprint(c, "CONNECT hang.test:7 HTTP/1.1\r\n\r\n")
		open = append(open, c)
		<-hangs
	}
	served("with hosts that never answer")
	busy := 0
	for _, c := range open[:40] {
		b := make([]byte, 12)
		if _, err := io.ReadFull(c, b); err == nil && string(b) == "HTTP/1.1 503" {
			busy++
		}
	}
	if busy != 40 {
		t.Errorf("of those that tried longest %d of 40 were told that too much is open", busy)
	}

	// Heads that come a byte at a time, and one that does not end.
	slow := make(chan struct{})
	defer close(slow)
	for range 50 {
		c := l.client()
		open = append(open, c)
		go func() {
			fmt.Fprint(c, "GET http://ok.test/")
			for {
				if _, err := c.Write([]byte("x")); err != nil {
					return
				}
				select {
				case <-time.After(100 * time.Millisecond):
				case <-slow:
					return
				}
			}
		}()
	}
	served("with slow heads")
	for range 5 {
		resp, _ := l.ask("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nX: " + strings.Repeat("y", 1<<20) + "\r\n\r\n")
		if resp.StatusCode != 431 {
			t.Fatalf("a header line of 1 MiB: %d", resp.StatusCode)
		}
	}

	// Half-open calls, many more than may wait. Those of ours that the proxy has
	// ended are let go of as they get old.
	const atOnce = 3000
	half := make([]net.Conn, atOnce)
	most := uint64(0)
	for i := range 10000 {
		c, err := net.Dial("tcp", l.at)
		if err != nil {
			t.Fatal(err)
		}
		if old := half[i%atOnce]; old != nil {
			old.Close()
		}
		half[i%atOnce] = c
		io.WriteString(c, []string{"", "CONNECT ok.test:7 HTTP/1.1\r\nX: ", "\x05", "GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nX: " + strings.Repeat("z", 8000)}[i%4])
		if i%5000 == 4999 {
			served("with half-open calls")
			most = max(most, memory())
		}
	}
	open = append(open, half...)
	if most > before+64 {
		t.Errorf("it holds %d MiB", most-before)
	}
	close(hang)
}

// Where a process has no descriptor left, a call is told to come again, and
// nothing ends.
func TestNoDescriptors(t *testing.T) {
	l := newLab(t, hosts("ok.test:7"))
	l.origin("ok.test", 7, echo)
	tunnel := l.connect("ok.test:7")
	tunnel.say("a").read(1)
	waits, socks := l.client(), l.client()
	waits.say("CONNECT ok.test:7 HTTP/1.1\r\n") // accepted, since it is read
	socks.say("\x05\x01\x00")
	if got := socks.read(2); got != "\x05\x00" {
		t.Fatalf("%q", got)
	}
	restore := exhaust(t)
	waits.say("\r\n")
	resp, _ := waits.answer("CONNECT")
	socks.say("\x05\x01\x00\x03\x07ok.test\x00\x07")
	reply := socks.read(2)
	still := tunnel.say("b").read(1)
	restore()
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" || reply != "\x05\x01" || still != "b" {
		t.Errorf("%d %v, SOCKS %q, an open tunnel %q", resp.StatusCode, resp.Header, reply, still)
	}
	l.connect("ok.test:7")
}

// exhaust leaves this process no descriptor until restore is called.
func exhaust(t *testing.T) (restore func()) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	now := was
	now.Cur = 0 // none may be opened; those that are open stay
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &now); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
			t.Fatal(err)
		}
	}
}

// pipes is a listener whose connections hold nothing: what one side writes the
// other reads, or it waits.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{} }

// Programs that do not read what they are answered are not waited for without
// end, whatever it is that they do not read.
func TestAnswersThatNobodyReads(t *testing.T) {
	for name, request := range map[string]string{
		"refused":        "GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n",
		"refused, again": "GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\nGET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n",
		"with a body":    "POST http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\nContent-Length: 5\r\n\r\n",
		"malformed":      "GET http://evil.test/ HTTP/1.1\r\n\r\n",
		"short":          "GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, hosts("ok.test"))
			l.site("ok.test", 80, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "short") })
			ln := make(pipes)
			go l.proxy.Serve(ln)
			t.Cleanup(func() { close(ln) })
			const bound, more = 1024, 16
			var all []net.Conn
			for i := range bound + more {
				ours, theirs := net.Pipe()
				t.Cleanup(func() { ours.Close() })
				ln <- theirs
				if _, err := io.WriteString(ours, request); err != nil {
					t.Fatal(i, err)
				}
				all = append(all, ours)
			}
			ended := 0
			eventually(t, "those that wait longest are ended", func() bool {
				ended = 0
				for _, c := range all {
					c.SetWriteDeadline(time.Unix(1, 0))
					if _, err := c.Write(nil); errors.Is(err, io.ErrClosedPipe) {
						ended++
					}
				}
				return ended >= more
			})
			if ended > more+more {
				t.Errorf("%d are ended", ended)
			}
		})
	}
}
