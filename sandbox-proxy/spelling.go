package proxy

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/textproto"
	"strings"
	"sync"
)

// A spelling is how names of a head's fields were written, where net/http would
// write them otherwise. Names are the same in any case (RFC 9110 section 5.1),
// and there are hosts and programs that look for X-Jenkins-JNLP-Port or
// Sec-WebSocket-Key and take no other.
type spelling []string

// ownNames are the fields that net/http writes itself, or looks for under the
// name as it has it.
var ownNames = map[string]bool{
	"Connection": true, "Content-Length": true, "Expect": true, "Host": true,
	"Trailer": true, "Transfer-Encoding": true,
}

func (s *spelling) note(name string) {
	if key := textproto.CanonicalMIMEHeaderKey(name); key != name && !ownNames[key] {
		*s = append(*s, strings.Clone(name)) // and not the head that it is a part of
	}
}

// spelling is how the names of a request's fields were written.
func (h *head) spelling() (s spelling) {
	for _, f := range h.fields {
		s.note(f.name)
	}
	return s
}

// on writes the names of h as they were. It adds no field and takes none out.
func (s spelling) on(h http.Header) {
	for _, name := range s {
		key := textproto.CanonicalMIMEHeaderKey(name)
		if values, ok := h[key]; ok {
			delete(h, key)
			h[name] = values
		}
	}
}

// An answerHead watches the bytes of a connection for the head of an answer, as
// it is before net/http has read it: what is lost then is how names are written,
// and a Connection that says close beside others.
type answerHead struct {
	mu sync.Mutex
	on bool
	b  []byte

	// held is what was read of an answer with a long head and is still to come,
	// after what comes then. Who reads has them alone.
	held  []byte
	after error
}

// begin waits for the next answer.
func (a *answerHead) begin() {
	a.mu.Lock()
	a.on, a.b = true, a.b[:0]
	a.mu.Unlock()
}

// holds says whether something was read that is still to come.
func (a *answerHead) holds() bool { return len(a.held) > 0 || a.after != nil }

// saw notes what has been read. Heads of interim answers are passed over.
func (a *answerHead) saw(b []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.on || len(b) == 0 {
		return
	}
	from := len(a.b)
	a.b = append(a.b, b...)
	for a.on {
		end := answerHeadEnd(a.b, from)
		switch {
		case end == 0:
			if len(a.b) > maxHeadBytes {
				a.on, a.b = false, nil
			}
			return
		case interimHead(a.b[:end]):
			a.b = append(a.b[:0], a.b[end:]...)
			from = 0
		default:
			a.on, a.b = false, a.b[:end]
		}
	}
}

// read gives how the head's names are written and which of its fields are for
// one hop, and lets go of it. Both are empty where no whole head was seen.
func (a *answerHead) read() (names spelling, hop []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.on {
		a.on = false
		return nil, nil
	}
	_, rest, _ := bytes.Cut(a.b, []byte("\n"))
	for line := range bytes.Lines(rest) {
		raw, value, ok := bytes.Cut(line, []byte(":"))
		name := string(raw)
		if !ok || !token(name) {
			continue
		}
		names.note(name)
		if strings.EqualFold(name, "connection") {
			for part := range strings.SplitSeq(string(value), ",") {
				hop = append(hop, strings.TrimSpace(part))
			}
		}
	}
	if cap(a.b) > firstBytes {
		a.b = nil
	}
	return names, hop
}

// answerHeadEnd finds the end of the first head in b, the empty line included,
// of which the part before from has been looked through; zero where there is
// none yet. net/http takes lines without a CR too.
func answerHeadEnd(b []byte, from int) int {
	for at := max(0, from-2); ; {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return 0
		}
		at += i + 1
		if rest := b[at:]; bytes.HasPrefix(rest, []byte("\n")) {
			return at + 1
		} else if bytes.HasPrefix(rest, []byte("\r\n")) {
			return at + 2
		}
	}
}

// interimHead says whether a head is of an answer before the answer. One that
// switches protocols is the answer.
func interimHead(b []byte) bool {
	_, status, ok := bytes.Cut(b, []byte(" "))
	return ok && bytes.HasPrefix(status, []byte("1")) && !bytes.HasPrefix(status, []byte("101"))
}

// watched is a reader of answers of which an answerHead sees all.
type watched struct {
	io.Reader
	head *answerHead
}

func (w watched) Read(p []byte) (int, error) { return w.head.from(w.Reader, p) }

// readAnswers gives a reader of the answers that come from r, whose buffer takes
// any head: what it has read past one is buffered there, and nowhere else.
func (a *answerHead) readAnswers(r io.Reader) *bufio.Reader {
	a.begin()
	return bufio.NewReaderSize(watched{r, a}, maxHeadBytes)
}
