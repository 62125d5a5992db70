package proxy_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// A clocked connection notes by when writes to it must be done.
type clocked struct {
	*net.TCPConn
	mu    sync.Mutex
	write time.Time
}

func (c *clocked) SetDeadline(t time.Time) error {
	c.note(t)
	return c.TCPConn.SetDeadline(t)
}

func (c *clocked) SetWriteDeadline(t time.Time) error {
	c.note(t)
	return c.TCPConn.SetWriteDeadline(t)
}

func (c *clocked) note(t time.Time) {
	c.mu.Lock()
	c.write = t
	c.mu.Unlock()
}

// clocks is a listener whose connections are clocked.
type clocks struct {
	net.Listener
	all chan *clocked
}

func (l *clocks) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	n := &clocked{TCPConn: c.(*net.TCPConn)}
	l.all <- n
	return n, nil
}

// What is said in a tunnel may take as long as it takes: the clock that runs
// over the proxy's own word is not left on the connection.
func TestNoClockOverATunnel(t *testing.T) {
	l := newLab(t, hosts("ok.test"), tcp("ok.test:81"))
	for _, port := range []uint16{80, 81} {
		l.site("ok.test", port, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "said") })
	}
	ln := &clocks{listen(t), make(chan *clocked, 1)}
	go l.proxy.Serve(ln)
	const socks = "\x05\x01\x00\x05\x01\x00\x03\x07ok.test\x00"
	for _, way := range []struct{ open, host string }{
		{"CONNECT ok.test:80 HTTP/1.1\r\nHost: ok.test:80\r\n\r\n", "ok.test"},
		{"CONNECT ok.test:81 HTTP/1.1\r\nHost: ok.test:81\r\n\r\n", "ok.test:81"},
		{socks + "P", "ok.test"},
		{socks + "Q", "ok.test:81"},
	} {
		c := dialClient(t, ln.Addr().String()).say("%s", way.open)
		if strings.HasPrefix(way.open, socks) {
			c.read(len("\x05\x00") + 10)
		} else if resp, _ := c.answer("CONNECT"); resp.StatusCode != 200 {
			t.Fatalf("%q: %d", way.open, resp.StatusCode)
		}
		if _, body := c.say("GET / HTTP/1.1\r\nHost: %s\r\n\r\n", way.host).answer(); body != "said" {
			t.Errorf("%q: %q", way.open, body)
		}
		near := <-ln.all
		near.mu.Lock()
		if !near.write.IsZero() {
			t.Errorf("%q: what is said in the tunnel must be said by %s", way.open, near.write)
		}
		near.mu.Unlock()
	}
}
