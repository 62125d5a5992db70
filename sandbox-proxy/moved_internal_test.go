package proxy

import (
	"bytes"
	"net"
	"net/http"
	"testing"
	"time"
)

// A program that has closed its side is answered for as long as the answer moves:
// whatever is sent of it counts as that, in small pieces and in large ones.
func TestAnswersThatMoveAreNoted(t *testing.T) {
	for _, size := range []int{1, atOnce, 4 * atOnce} {
		near, far := net.Pipe()
		defer near.Close()
		defer far.Close()
		go func() {
			for b := make([]byte, 1<<20); ; {
				if _, err := far.Read(b); err != nil {
					return
				}
			}
		}()
		g := &gate{Conn: near}
		long := time.Hour
		g.wrote.Store(int64(time.Since(epoch) - long))
		w := &reply{gate: g, head: &head{method: http.MethodGet, minor: 1}}
		w.Write(bytes.Repeat([]byte("x"), size))
		w.Flush()
		if g.drains() < 0 {
			t.Errorf("%d bytes of an answer were sent, and nothing is said to have moved", size)
		}
		g.wrote.Store(int64(time.Since(epoch) - long))
		w.Write(bytes.Repeat([]byte("x"), size))
		if sent := size >= 4*atOnce; sent != (g.drains() > 0) {
			t.Errorf("%d bytes: moved %v", size, g.drains() > 0)
		}
	}
}
