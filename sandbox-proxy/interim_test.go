package proxy_test

import (
	"io"
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
	early := proxy.NewInterim(w, httptest.NewRequest("GET", "/", nil), func(h http.Header) { h.Del("X-Ours") })
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

// HTTP/1.0 has no answer before the answer (RFC 9110 section 15.2).
func TestNoInterimAnswerInHTTP10(t *testing.T) {
	l := newLab(t, hosts("ok.test"))
	l.site("ok.test", 80, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(103)
		w.WriteHeader(102)
		io.WriteString(w, "whole")
	})
	for _, c := range []struct {
		version string
		first   int
	}{{"1.0", 200}, {"1.1", 103}} {
		resp, body := l.ask("GET http://ok.test/ HTTP/" + c.version + "\r\nHost: ok.test\r\n\r\n")
		if resp.StatusCode != c.first || c.first == 200 && body != "whole" {
			t.Errorf("HTTP/%s: %d %q", c.version, resp.StatusCode, body)
		}
	}
}
