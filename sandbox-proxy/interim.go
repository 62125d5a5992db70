package proxy

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"sync"
)

// An Interim passes on the answers that come before an answer (RFC 9110 section
// 15.2). The transport tells of them on a goroutine of its own, also once it has
// given a request up: the writer is another's by then, so that whoever asked
// says so by End.
type Interim struct {
	w     http.ResponseWriter
	head  func(http.Header)
	heard bool // whoever asked knows of them

	mu   sync.Mutex
	over bool
}

// NewInterim passes those of what r is sent as on to w, which r's answer is
// written to; head makes their headers ones for the program. HTTP/1.0 has none:
// who speaks that takes the first answer for the only one, and gets no other.
func NewInterim(w http.ResponseWriter, r *http.Request, head func(http.Header)) *Interim {
	return &Interim{w: w, head: head, heard: r.ProtoAtLeast(1, 1)}
}

// In gives the context of the request whose interim answers they are.
func (i *Interim) In(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got1xxResponse: i.got})
}

// End is that the request has been answered, or was given up. Nothing is passed
// on once it has returned.
func (i *Interim) End() {
	i.mu.Lock()
	i.over = true
	i.mu.Unlock()
}

// got passes one on. A 100 is the server's to say: it does when the body is
// read, which is when the far side has said it.
func (i *Interim) got(code int, header textproto.MIMEHeader) error {
	if code == http.StatusContinue || !i.heard {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.over {
		return nil
	}
	i.head(http.Header(header))
	h := i.w.Header()
	for name, values := range header {
		h[name] = values
	}
	i.w.WriteHeader(code)
	clear(h)
	return nil
}
