package proxy

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// However an answer arrives, the head that is read is the same.
func TestAnswerHeadInPieces(t *testing.T) {
	for name, c := range map[string]struct {
		says  string
		names spelling
		hop   []string
	}{
		"plain":       {"HTTP/1.1 200 OK\r\nX-JNLP-Port: 1\r\netag: x\r\nDate: d\r\n\r\nx-body: 1\r\n\r\n", spelling{"X-JNLP-Port", "etag"}, nil},
		"without CR":  {"HTTP/1.1 200 OK\nx-a: 1\nConnection: close , x-a\n\nx-b: 1", spelling{"x-a"}, []string{"close", "x-a"}},
		"interim":     {"HTTP/1.1 103 Early\r\nx-early: 1\r\n\r\nHTTP/1.1 100 Go\r\n\r\nHTTP/1.1 404 No\r\nx-late: 1\r\n\r\n", spelling{"x-late"}, nil},
		"switches":    {"HTTP/1.1 101 Go\r\nSec-WebSocket-Accept: 1\r\nconnection: upgrade\r\n\r\n", spelling{"Sec-WebSocket-Accept"}, []string{"upgrade"}},
		"two lines":   {"HTTP/1.1 200\r\nConnection: keep-alive\r\nConnection: a,b\r\n\r\n", nil, []string{"keep-alive", "a", "b"}},
		"our own":     {"HTTP/1.1 200 OK\r\ncontent-length: 1\r\nTRANSFER-ENCODING: chunked\r\ntrailer: x\r\n\r\n", nil, nil},
		"no fields":   {"HTTP/1.1 204 No\r\n\r\n", nil, nil},
		"no names":    {"HTTP/1.1 200 OK\r\nx a: 1\r\n: 2\r\nnone\r\n\r\n", nil, nil},
		"never whole": {"HTTP/1.1 200 OK\r\nx-a: 1\r\n", nil, nil},
		"too long":    {"HTTP/1.1 200 OK\r\nx-a: " + strings.Repeat("a", maxHeadBytes) + "\r\nx-b: 1", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 2, 3, 5, 7, 64, 4096, len(c.says)} {
				if size < 64 && len(c.says) > 4096 {
					continue
				}
				var a answerHead
				for range 2 { // the second answer of a connection is read as the first was
					a.begin()
					for rest := c.says; rest != ""; {
						n := min(size, len(rest))
						a.saw([]byte(rest[:n]))
						rest = rest[n:]
					}
					names, hop := a.read()
					if !reflect.DeepEqual(names, c.names) || !reflect.DeepEqual(hop, c.hop) {
						t.Errorf("in pieces of %d: names %q and %q", size, names, hop)
					}
					if len(a.b) > 2*maxHeadBytes {
						t.Errorf("%d bytes are kept", len(a.b))
					}
				}
			}
		})
	}
}

// Writing names as they were adds no field and takes none away, whatever is
// said of them.
func TestSpelling(t *testing.T) {
	var s spelling
	for _, name := range []string{"x-a", "X-a", "X-A", "HOST", "content-length", "x-gone", "X-Plain", "eTag"} {
		s.note(name)
	}
	h := http.Header{"X-A": {"1", "2"}, "X-Plain": {"3"}, "Etag": {"4"}, "Content-Length": {"5"}}
	s.on(h)
	want := http.Header{"x-a": {"1", "2"}, "X-Plain": {"3"}, "eTag": {"4"}, "Content-Length": {"5"}}
	if !reflect.DeepEqual(h, want) {
		t.Errorf("%v", h)
	}
}
