package tunnel_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tunnel"
)

// What a program says is looked at before it is delivered, for as long as the
// one who looks wants to, however much it is and by whatever it comes.
func TestWatch(t *testing.T) {
	no := errors.New("no")
	for way, hide := range map[string]bool{"sockets": false, "others": true} {
		var seen []byte
		const enough = 3 << 20 // more than is carried before a stream is spliced
		r := newRig(t, func(t *tunnel.Tunnel) {
			t.FromNear = []byte("early ")
			t.Watch = func(b []byte) (bool, error) {
				seen = append(seen, b...)
				if bytes.Contains(b, []byte("STOP")) {
					return false, no
				}
				return len(seen) < enough, nil
			}
			if hide {
				t.Near, t.Far = opaque{t.Near}, opaque{t.Far}
			}
		})
		said := bytes.Repeat([]byte("0123456789abcdef"), enough/8)
		go r.program.Write(said)
		got := make([]byte, len("early ")+len(said))
		if _, err := io.ReadFull(r.origin, got); err != nil || string(got[:6]) != "early " || !bytes.Equal(got[6:], said) {
			t.Fatalf("%s: %v", way, err)
		}
		// It has seen enough, and what comes now is not its business.
		r.program.Write([]byte("STOP"))
		if _, err := io.ReadFull(r.origin, got[:4]); err != nil || string(got[:4]) != "STOP" {
			t.Errorf("%s: %q, %v", way, got[:4], err)
		}
		r.tunnel.Cut()
		r.wait(t)
		if len(seen) < enough || !bytes.HasPrefix(append([]byte("early "), said...), seen) {
			t.Errorf("%s: it was shown %d bytes, or others", way, len(seen))
		}

		r = newRig(t, func(t *tunnel.Tunnel) {
			t.Watch = func(b []byte) (bool, error) {
				if bytes.Contains(b, []byte("STOP")) {
					return true, no
				}
				return true, nil
			}
			if hide {
				t.Near, t.Far = opaque{t.Near}, opaque{t.Far}
			}
		})
		r.program.Write([]byte("go"))
		if _, err := io.ReadFull(r.origin, got[:2]); err != nil || string(got[:2]) != "go" {
			t.Errorf("%s: %q, %v", way, got[:2], err)
		}
		r.program.Write([]byte("STOP"))
		if n, _ := r.origin.Read(got); n > 0 {
			t.Errorf("%s: %q was delivered", way, got[:n])
		}
		if err := r.wait(t); !errors.Is(err, no) {
			t.Errorf("%s: ended with %v", way, err)
		}
		if r.meter.Up() != 2 {
			t.Errorf("%s: %d bytes are counted", way, r.meter.Up())
		}
	}
}
