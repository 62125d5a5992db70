package carry

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
)

// watch has a request note that all of it is on its way, which it says before
// the server can have it: a body when its end was read, a request without one
// when its head is written.
func watch(out *http.Request) (*http.Request, *atomic.Bool) {
	sent := new(atomic.Bool)
	if out.Body == nil || out.Body == http.NoBody {
		trace := &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }}
		return out.WithContext(httptrace.WithClientTrace(out.Context(), trace)), sent
	}
	out.Body = &watched{out.Body, sent}
	return out, sent
}

// A watched is a body that notes its end.
type watched struct {
	io.ReadCloser
	ended *atomic.Bool
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.ReadCloser.Read(b)
	if err == io.EOF {
		w.ended.Store(true)
	}
	return n, err
}
