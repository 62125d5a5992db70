package names

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hang ends a test that would wait for ever.
const hang = 60 * time.Second

func TestServeUDP(t *testing.T) {
	s, _ := testServer()
	p, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.ServeUDP(p) }()
	c, err := net.Dial("udp4", p.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(hang))
	send := func(b []byte) {
		if _, err := c.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	// What gets no answer, and what is cut, does not disturb the next.
	send([]byte{1, 2, 3})
	send(append([]byte{0, 0, 0x80}, make([]byte, 40)...))
	for i := range 50 {
		send(ask(fmt.Sprintf("n%d.allowed.example.", i), dns.TypeA, func(m *dns.Msg) { m.Id = uint16(i) }))
		buf := make([]byte, 2000)
		n, err := c.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		m := new(dns.Msg)
		if err := m.Unpack(buf[:n]); err != nil || m.Id != uint16(i) || len(m.Answer) != 1 {
			t.Fatalf("query %d: %v, %s", i, err, show(m))
		}
	}
	p.Close()
	if err := <-served; err != nil {
		t.Errorf("closed, it gave %v", err)
	}
}

// tcpServer serves on loopback until the test ends.
func tcpServer(t *testing.T, s *Server) (dial func() net.Conn, stop func() error) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.ServeTCP(l) }()
	stop = sync.OnceValue(func() error {
		l.Close()
		select {
		case err := <-served:
			return err
		case <-time.After(hang):
			return errors.New("it goes on")
		}
	})
	t.Cleanup(func() { stop() })
	return func() net.Conn {
		c, err := net.Dial("tcp4", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		c.SetDeadline(time.Now().Add(hang))
		return c
	}, stop
}

func framed(b []byte) []byte { return append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...) }

func readFramed(c io.Reader) (*dns.Msg, error) {
	var head [2]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint16(head[:]))
	if _, err := io.ReadFull(c, b); err != nil {
		return nil, err
	}
	m := new(dns.Msg)
	return m, m.Unpack(b)
}

func TestServeTCPManyQueriesOneConnection(t *testing.T) {
	s, _ := testServer()
	dial, stop := tcpServer(t, s)
	c := dial()
	var all []byte
	for i := range 20 {
		all = append(all, framed(ask("allowed.example.", dns.TypeA, func(m *dns.Msg) { m.Id = uint16(i) }))...)
	}
	// In pieces that end where no message does.
	for len(all) > 0 {
		n := min(7, len(all))
		if _, err := c.Write(all[:n]); err != nil {
			t.Fatal(err)
		}
		all = all[n:]
	}
	for i := range 20 {
		m, err := readFramed(c)
		if err != nil || m.Id != uint16(i) || len(m.Answer) != 1 {
			t.Fatalf("answer %d: %v, %s", i, err, show(m))
		}
	}
	if err := stop(); err != nil {
		t.Errorf("closed, it gave %v", err)
	}
	if _, err := readFramed(c); err == nil {
		t.Error("the connection outlived the server")
	}
}

func TestServeTCPEndsWhatIsNoDNS(t *testing.T) {
	s, _ := testServer()
	dial, _ := tcpServer(t, s)
	for what, b := range map[string][]byte{
		"an empty message": {0, 0}, "a message shorter than a header": {0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		"a length past the limit": {0xff, 0xff}, "a request of another protocol": []byte("GET / HTTP/1.1\r\n\r\n"),
		"an answer": framed(append([]byte{0, 0, 0x80}, make([]byte, 40)...)),
	} {
		c := dial()
		if _, err := c.Write(b); err != nil {
			t.Fatal(err)
		}
		if m, err := readFramed(c); err == nil {
			t.Errorf("%s was answered: %s", what, show(m))
		} else if e, ok := err.(net.Error); ok && e.Timeout() {
			t.Errorf("%s kept its connection", what)
		}
	}
}

func TestServeTCPBoundsItsConnections(t *testing.T) {
	s, _ := testServer()
	dial, _ := tcpServer(t, s)
	works := func(c net.Conn) bool {
		if _, err := c.Write(framed(ask("allowed.example.", dns.TypeA))); err != nil {
			return false
		}
		_, err := readFramed(c)
		return err == nil
	}
	var held []net.Conn
	for i := range maxConns {
		held = append(held, dial())
		if !works(held[i]) {
			t.Fatalf("connection %d does not work", i)
		}
	}
	if works(dial()) {
		t.Fatalf("connection %d works", maxConns)
	}
	held[0].Close()
	for end := time.Now().Add(hang); !works(dial()); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a place that got free is not given")
		}
	}
	if !works(held[1]) {
		t.Error("a connection that was there no longer works")
	}
}

func TestServeTCPBoundsTheQueriesOfAConnection(t *testing.T) {
	s, _ := testServer()
	dial, _ := tcpServer(t, s)
	c := dial()
	for i := range maxQueries + 1 {
		_, err := c.Write(framed(ask("allowed.example.", dns.TypeA)))
		if err == nil {
			_, err = readFramed(c)
		}
		if (err == nil) != (i < maxQueries) {
			t.Fatalf("query %d: %v", i, err)
		}
	}
}

// pipes is a listener whose connections are made in memory, so that their time
// can be the test's.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return nil }

// watched says when it is closed.
type watched struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

func (w *watched) Close() error {
	w.once.Do(func() { close(w.closed) })
	return w.Conn.Close()
}

func TestServeTCPIdle(t *testing.T) {
	query := framed(ask("allowed.example.", dns.TypeA))
	for what, feed := range map[string]func(*testing.T, net.Conn){
		"silence from the start": func(*testing.T, net.Conn) {},
		"silence after a query": func(t *testing.T, c net.Conn) {
			time.Sleep(idleWait - time.Second)
			c.Write(query)
			if _, err := readFramed(c); err != nil {
				t.Errorf("a query just before the limit: %v", err)
			}
		},
		"a byte a second": func(t *testing.T, c net.Conn) {
			for i := range query {
				time.Sleep(time.Second)
				if _, err := c.Write(query[i : i+1]); err != nil {
					return
				}
			}
		},
		"answers that are not read": func(t *testing.T, c net.Conn) {
			for range 3 {
				c.Write(query)
			}
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, _ := testServer()
			p := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
			served := make(chan error, 1)
			go func() { served <- s.ServeTCP(p) }()
			client, server := net.Pipe()
			w := &watched{Conn: server, closed: make(chan struct{})}
			p.conns <- w
			fed := make(chan struct{})
			go func() { defer close(fed); feed(t, client) }()
			select {
			case <-w.closed:
			case <-time.After(2*idleWait + time.Second):
				t.Errorf("%s: the connection is still there", what)
			}
			client.Close()
			<-fed
			p.Close()
			if err := <-served; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestServeTCPEndsItsConnectionsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := testServer()
		p := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		served := make(chan error, 1)
		go func() { served <- s.ServeTCP(p) }()
		client, server := net.Pipe()
		defer client.Close()
		p.conns <- server
		synctest.Wait()
		from := time.Now()
		p.Close()
		if err := <-served; err != nil || time.Since(from) != 0 {
			t.Errorf("it ended after %v: %v", time.Since(from), err)
		}
	})
}

// flaky fails a number of times before it is closed.
type flaky struct {
	net.PacketConn
	err   error
	left  int
	total int
}

func (f *flaky) ReadFrom([]byte) (int, net.Addr, error) {
	f.total++
	if f.left--; f.left < 0 {
		return 0, nil, net.ErrClosed
	}
	return 0, nil, f.err
}

func TestErrorsOfASocket(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		err   error
		times int
		want  error
	}{{broken, maxErrors, nil}, {broken, maxErrors + 1, broken}, {syscall.EMFILE, 10 * maxErrors, nil}} {
		synctest.Test(t, func(t *testing.T) {
			s, _ := testServer()
			f := &flaky{err: c.err, left: c.times}
			if err := s.answerPackets(s.codec(), f); !errors.Is(err, c.want) {
				t.Errorf("%d times %v: %v", c.times, c.err, err)
			}
		})
	}
}

// halfBroken is a PacketConn that fails for the first who reads it, told by
// its buffer, and is silent to the others until it is closed.
type halfBroken struct {
	net.PacketConn
	mu     sync.Mutex
	first  *byte
	once   sync.Once
	closed chan struct{}
}

func (h *halfBroken) ReadFrom(b []byte) (int, net.Addr, error) {
	h.mu.Lock()
	if h.first == nil {
		h.first = &b[0]
	}
	broken := h.first == &b[0]
	h.mu.Unlock()
	if broken {
		return 0, nil, errors.New("broken")
	}
	<-h.closed
	return 0, nil, net.ErrClosed
}

func (h *halfBroken) Close() error { h.once.Do(func() { close(h.closed) }); return nil }

func TestServeUDPEndsAsAWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := testServer()
		h := &halfBroken{closed: make(chan struct{})}
		from := time.Now()
		stop := time.AfterFunc(time.Hour, func() { h.Close() })
		defer stop.Stop()
		if err := s.ServeUDP(h); err == nil || time.Since(from) >= time.Hour {
			t.Errorf("after %v: %v", time.Since(from), err)
		}
	})
}
