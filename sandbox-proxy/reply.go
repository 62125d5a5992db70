package proxy

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A reply is the answer to a request in HTTP/1.1, written to its connection by the
// goroutine that makes it. It is an http.ResponseWriter that writes what
// net/http's server does, but for this: an answer that is small goes out in one
// segment, at the end, and what a 304 says of a body it does not have stays.
type reply struct {
	gate   *gate
	head   *head
	phrase *statusLine // the host's own words

	header http.Header
	status int
	out    bytes.Buffer // not sent yet
	framed framing
	left   int64 // of a body of a known length
	closes bool  // nothing more is read on the connection
	err    error // why nothing more is sent on it
}

// framing is how the end of a body is told (RFC 9112 section 6.3).
type framing uint8

const (
	noBody framing = iota
	byLength
	byChunks
)

// atOnce is how much of a body is sent with what is before it, in bytes.
const atOnce = 16 << 10

var errLength = errors.New("a body that is not as long as was said")

func (w *reply) Header() http.Header {
	if w.header == nil {
		w.header = http.Header{}
	}
	return w.header
}

// WriteHeader says how the request has ended; an answer before the answer is sent
// at once.
func (w *reply) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	words := cmp.Or(http.StatusText(status), "status code "+strconv.Itoa(status))
	interim := status < http.StatusOK && status != http.StatusSwitchingProtocols
	if !interim {
		w.status = status
		w.frame()
		if w.phrase != nil {
			words = w.phrase.phrase
		}
	}
	w.out.WriteString("HTTP/1.1 " + strconv.Itoa(status) + " " + words + "\r\n")
	w.header.Write(&w.out)
	w.out.WriteString("\r\n")
	if interim {
		w.Flush()
	}
}

// frame decides how the body's end is told, and says it.
func (w *reply) frame() {
	h := w.Header()
	if _, ok := h["Date"]; !ok {
		h["Date"] = []string{time.Now().UTC().Format(http.TimeFormat)}
	}
	delete(h, "Transfer-Encoding")
	if w.closes = w.closes || w.head.closes || slices.Contains(h["Connection"], "close"); w.closes {
		h["Connection"] = []string{"close"}
	}
	switch {
	case w.status == http.StatusNoContent, w.status < http.StatusOK:
		delete(h, "Content-Length")
		return
	case w.head.method == http.MethodHead, w.status == http.StatusNotModified:
		return
	}
	if said := h["Content-Length"]; len(said) == 1 {
		if n, err := strconv.ParseInt(said[0], 10, 64); err == nil && n >= 0 {
			w.framed, w.left = byLength, n
			return
		}
	}
	delete(h, "Content-Length")
	h["Transfer-Encoding"] = []string{"chunked"}
	w.framed = byChunks
}

// Write sends a part of the body.
func (w *reply) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.err != nil || len(p) == 0 || w.framed == noBody {
		return len(p), w.err
	}
	if w.framed == byLength {
		if w.left -= int64(len(p)); w.left < 0 {
			w.err = errLength
			return 0, w.err
		}
		return w.send(p)
	}
	w.out.WriteString(strconv.FormatInt(int64(len(p)), 16) + "\r\n")
	n, err := w.send(p)
	w.out.WriteString("\r\n")
	return n, err
}

// send sends p behind what was not sent yet, now or with what follows.
func (w *reply) send(p []byte) (int, error) {
	if len(p) <= atOnce && w.out.Len() < atOnce {
		w.out.Write(p)
		return len(p), nil
	}
	w.Flush()
	w.write(p)
	return len(p), w.err
}

func (w *reply) write(p []byte) {
	if w.err == nil {
		_, w.err = w.gate.Conn.Write(p)
		w.gate.moved()
	}
}

// FlushError sends what was not sent yet.
func (w *reply) FlushError() error {
	w.Flush()
	return w.err
}

// Flush sends what was not sent yet, and keeps the error.
func (w *reply) Flush() {
	if w.out.Len() > 0 {
		w.write(w.out.Bytes())
	}
	w.out.Reset()
}

// end sends the rest: the body's end, and the trailers. It says whether another
// request may follow.
func (w *reply) end() bool {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	switch {
	case w.framed == byLength && w.left > 0:
		w.err = cmp.Or(w.err, errLength)
	case w.framed == byChunks:
		w.out.WriteString("0\r\n")
		w.trailers().Write(&w.out)
		w.out.WriteString("\r\n")
	}
	w.Flush()
	return w.err == nil && !w.closes
}

// trailers are what the header holds of them, as an http.ResponseWriter is told
// of them.
func (w *reply) trailers() http.Header {
	t := http.Header{}
	for name, values := range w.header {
		if plain, is := strings.CutPrefix(name, http.TrailerPrefix); is {
			t[plain] = values
		}
	}
	for _, line := range w.header["Trailer"] {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.TrimSpace(name); w.header[name] != nil {
				t[name] = w.header[name]
			}
		}
	}
	return t
}

var _ io.Writer = (*reply)(nil)
