package inbox

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// hang ends a test that would wait for ever.
const hang = 60 * time.Second

// A hidden socket is of no kind that is known.
type hidden struct{ net.PacketConn }

// Each sender has the answers to what he sent, however many packets there are when
// they are read, and of whatever length.
func TestAnswers(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		for name, as := range map[string]func(net.PacketConn) net.PacketConn{
			"as it is": func(p net.PacketConn) net.PacketConn { return p },
			"hidden":   func(p net.PacketConn) net.PacketConn { return hidden{p} },
		} {
			t.Run(at+" "+name, func(t *testing.T) { answers(t, at, as) })
		}
	}
}

func answers(t *testing.T, at string, as func(net.PacketConn) net.PacketConn) {
	const most, senders, each = 100, 5, 20
	p, err := net.ListenPacket("udp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	in := Of(as(p), most)
	var all []net.Conn
	for i := range senders {
		c, err := net.Dial("udp", p.LocalAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(hang))
		all = append(all, c)
		for k := range each { // more than are read at once
			fmt.Fprintf(c, "%d %d %s", i, k, strings.Repeat("x", k))
		}
	}
	if _, err := all[0].Write(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := all[0].Write(make([]byte, 2*most)); err != nil {
		t.Fatal(err)
	}
	p.SetReadDeadline(time.Now().Add(hang))
	seen, empty, long := 0, 0, 0
	for seen < senders*each+2 {
		if err := in.Read(); err != nil {
			t.Fatalf("after %d: %v", seen, err)
		}
		in.Answer(func(packet []byte) []byte {
			seen++
			switch len(packet) {
			case 0:
				empty++
				return nil
			case most + 1:
				long++
				return nil
			}
			return append([]byte("to "), packet...)
		})
	}
	if empty != 1 || long != 1 {
		t.Errorf("%d empty packets and %d that were too long", empty, long)
	}
	for i, c := range all {
		buf := make([]byte, 2*most)
		for k := range each {
			n, err := c.Read(buf)
			if want := fmt.Appendf(nil, "to %d %d %s", i, k, strings.Repeat("x", k)); err != nil || !bytes.Equal(buf[:n], want) {
				t.Fatalf("%d had %q, %v; want %q", i, buf[:n], err, want)
			}
		}
	}
}

// It ends with its socket, and who went away does it no harm.
func TestEnds(t *testing.T) {
	p, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	in := Of(p, 100)
	c, err := net.Dial("udp4", p.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(c, "one")
	if err := in.Read(); err != nil {
		t.Fatal(err)
	}
	c.Close()
	in.Answer(func(b []byte) []byte { return b }) // comes back as an error of the socket's
	ended := make(chan error, 1)
	go func() {
		for {
			err := in.Read()
			if errors.Is(err, net.ErrClosed) {
				ended <- nil
				return
			}
		}
	}()
	p.Close()
	select {
	case <-ended:
	case <-time.After(hang):
		t.Error("it did not end")
	}
}
