package proxy

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// Connections that are kept open for what is not wanted, a body or more of what
// was refused, are counted with those that wait for a head, and so are bounded.
func TestWhatIsNotWantedIsWaitedForAsHeadsAre(t *testing.T) {
	j, err := judge.New(judge.Rules{Hosts: []string{}}, judge.Machine())
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(Config{Sandbox: "web", Judge: j})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go p.Serve(ln)
	counted := func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.waiting.Len()
	}
	eventually := func(asked, what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("never: %q %s", asked, what)
				return
			}
		}
	}
	for _, asked := range []string{
		"POST http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\nContent-Length: 1000\r\n\r\n",
		"POST http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n",
		"CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n",
		"\x05\x01\x00\x05\x01\x00\x03\x09evil.test\x00P",
		"\x16\x03\x01\x00\x05hello",
	} {
		eventually(asked, "counts", func() bool {
			c, err := net.Dial("tcp", ln.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.SetDeadline(time.Now().Add(20 * time.Second))
			io.WriteString(c, asked)
			if asked[0] == '\x05' {
				io.ReadFull(c, make([]byte, 2))
			}
			if _, err := io.ReadFull(c, make([]byte, 2)); err != nil {
				t.Fatalf("%q: no answer: %v", asked, err)
			}
			// It no more waits for a head: it has its answer.
			for end := time.Now().Add(lingerTime); time.Now().Before(end); time.Sleep(time.Millisecond) {
				if counted() == 1 {
					return true
				}
			}
			return false
		})
		eventually(asked, "is let go of", func() bool { return counted() == 0 })
	}
}
