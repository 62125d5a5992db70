package proxy_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"sync"
	"testing"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
)

type codes struct {
	*httptest.ResponseRecorder
	seen []int
}

func (c *codes) WriteHeader(code int) { c.seen = append(c.seen, code) }

// The transport may tell of an interim answer when its request has been given
// up, while the writer is used for what is said instead.
func TestInterimAnswersEnd(t *testing.T) {
	w := &codes{ResponseRecorder: httptest.NewRecorder()}
	early := proxy.NewInterim(w, func(h http.Header) { h.Del("X-Ours") })
	told := httptrace.ContextClientTrace(early.In(t.Context())).Got1xxResponse
	told(100, nil)
	told(103, textproto.MIMEHeader{"Link": {"a"}, "X-Ours": {"b"}})
	if len(w.seen) != 1 || w.seen[0] != 103 || len(w.Header()) != 0 {
		t.Fatal(w.seen, w.Header())
	}
	var telling sync.WaitGroup
	for range 4 {
		telling.Go(func() {
			for range 100 {
				told(103, textproto.MIMEHeader{"Link": {"a"}})
			}
		})
	}
	early.End()
	before := len(w.seen)
	for range 100 {
		w.Header().Set("Link", "ours") // which the race detector sees, and the runtime may
	}
	telling.Wait()
	if told(103, textproto.MIMEHeader{"Link": {"a"}}); len(w.seen) != before || w.Header().Get("Link") != "ours" {
		t.Error(w.seen, w.Header())
	}
}
