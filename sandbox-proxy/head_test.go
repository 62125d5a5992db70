package proxy

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// FuzzHead: a head that is taken is read alike by net/http, where that takes
// it too.
func FuzzHead(f *testing.F) {
	for _, s := range []string{
		"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n",
		"CONNECT ok.test:443 HTTP/1.1\r\nHost: ok.test:443\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n",
		"GET / HTTP/1.0\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n 2\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n, wrong := headEnd(b)
		if wrong != nil || n == 0 {
			return
		}
		h, wrong := parseHead(b[:n])
		if wrong != nil {
			return
		}
		rest := bytes.NewReader(append(append([]byte(nil), b[:n]...), "NEXT"...))
		br := bufio.NewReader(rest)
		r, err := http.ReadRequest(br)
		if err != nil {
			return // net/http refuses more: the handler never sees it
		}
		if r.Method != h.method || r.RequestURI != h.target || r.ProtoMinor != h.minor {
			t.Fatalf("read as %s %s HTTP/1.%d and as %s %s HTTP/1.%d", h.method, h.target, h.minor, r.Method, r.RequestURI, r.ProtoMinor)
		}
		if left := br.Buffered() + rest.Len(); left != 4 {
			t.Fatalf("heads of different lengths: %d bytes are left, want 4", left)
		}
		chunked := len(r.TransferEncoding) > 0
		length := r.ContentLength
		if chunked != h.chunked || !chunked && length != max(h.length, 0) {
			t.Fatalf("bodies of different lengths: chunked %v and %v, %d and %d bytes", h.chunked, chunked, h.length, length)
		}
		if !strings.Contains(h.target, "://") && h.method != "CONNECT" && r.Host != h.host {
			t.Fatalf("Host %q and %q", h.host, r.Host)
		}
	})
}

// FuzzChunks: where the body ends is where net/http has it, and the pieces in
// which it comes make no difference.
func FuzzChunks(f *testing.F) {
	for _, s := range []string{"5\r\nhello\r\n0\r\n\r\n", "5;a=\"b\"\r\nhello\r\n0\r\nX: 1\r\nY: 2\r\n\r\n", "0\r\n\r\n", "a\r\n0123456789\r\n00\r\n\r\nGET", "5\nhello\r\n0\r\n\r\n", "FFFFFFFFFFFFFFF\r\n"} {
		f.Add([]byte(s), 1)
	}
	f.Fuzz(func(t *testing.T, b []byte, piece int) {
		var whole chunks
		n, done, err := whole.next(b)
		var pieces chunks
		at, ended := 0, false
		var perr error
		for at < len(b) && !ended && perr == nil {
			var k int
			k, ended, perr = pieces.next(b[at:min(len(b), at+max(piece, 1))])
			at += k
		}
		if at != n || ended != done || (perr == nil) != (err == nil) {
			t.Fatalf("in pieces of %d: %d %v %v, in one: %d %v %v", piece, at, ended, perr, n, done, err)
		}
		if !done {
			return
		}
		head := "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
		rest := strings.NewReader(head + string(b))
		br := bufio.NewReader(rest)
		r, err := http.ReadRequest(br)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return // net/http refuses more
		}
		if used := len(b) - br.Buffered() - rest.Len(); used != n {
			t.Fatalf("the body ends after %d bytes here and after %d in net/http", n, used)
		}
	})
}

// A request that the server read otherwise than the gate is refused, and so is
// one that the gate never read.
func TestTake(t *testing.T) {
	read := head{method: "GET", target: "http://ok.test/", given: "/", minor: 1}
	same := http.Request{Method: "GET", RequestURI: "/", ProtoMajor: 1, ProtoMinor: 1}
	for what, change := range map[string]func(r *http.Request){
		"method": func(r *http.Request) { r.Method = "POST" }, "target": func(r *http.Request) { r.RequestURI = "http://evil.test/" },
		"version": func(r *http.Request) { r.ProtoMinor = 0 }, "protocol": func(r *http.Request) { r.ProtoMajor = 2 },
	} {
		other := same
		change(&other)
		if h := (&gate{heads: []*head{&read}}).take(&other); h.bad == nil {
			t.Errorf("another %s is taken", what)
		}
	}
	g := &gate{heads: []*head{&read}}
	if h := g.take(&same); h != &read {
		t.Error("what was read is not taken")
	}
	if h := g.take(&same); h.bad == nil {
		t.Error("a request that was not read is taken")
	}
}

func TestChunks(t *testing.T) {
	for s, want := range map[string]int{
		"0\r\n\r\n": 5, "5\r\nhello\r\n0\r\n\r\nGET": 15, "00A;x=1\r\n0123456789\r\n0\r\nX: 1\r\n\r\n": 32, "5\r\nhel": 0, "": 0, "fffffffffffffff\r\n": 0,
		"\r\n": -1, ";x\r\n": -1, "g\r\n": -1, " 5\r\n": -1, "5 \r\n": -1, "+5\r\n": -1, "0x5\r\n": -1, "5\n": -1, "5;\n": -1, "5;\x00\r\n": -1, "5\r5": -1,
		"0000000000000005\r\n": -1, "10000000000000005\r\n": -1, "5\r\nhello0": -1, "5\r\nhello\rx": -1, "0\r\nX\n": -1, "0\r\nX\x00\r\n": -1, "0\r\n\rx": -1,
		"5;" + strings.Repeat("x", maxHeadBytes): -1, "0\r\n" + strings.Repeat("X: 1\r\n", maxHeadBytes/6): -1,
	} {
		var c chunks
		n, done, err := c.next([]byte(s))
		switch {
		case err != nil:
			n = -1
		case !done:
			n = 0
		}
		if n != want {
			t.Errorf("%.40q: %d, want %d", s, n, want)
		}
	}
}

func TestHeadEnd(t *testing.T) {
	for s, want := range map[string]int{"": 0, "GET": 0, "GET\r": 0, "GET\r\n": 0, "GET\r\n\r": 0, "GET\r\n\r\n": 7, "GET\r\n\r\nX\n": 7, "\n": -1, "GET\n": -1, "\r\n": -1, "GET\r\nX\n": -1} {
		n, wrong := headEnd([]byte(s))
		if wrong != nil {
			n = -1
		}
		if n != want {
			t.Errorf("%q: %d, want %d", s, n, want)
		}
	}
}
