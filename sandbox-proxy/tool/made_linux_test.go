package tool

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tool/frame"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// Of every call, made or not and in whatever form, one thing is told, and none
// of its words.
func TestMadeIsToldOnce(t *testing.T) {
	var mu sync.Mutex
	var told []Made
	dir := real(t, t.TempDir())
	h, err := New(Config{Sandbox: "web", Environ: os.Environ(), Write: []string{dir}, Made: func(_ context.Context, m Made) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, m)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	mux := http.NewServeMux()
	mux.Handle("/t", h.Tool("t", route.Tool{Argv: []string{"/bin/sh", "-c", `test "$1" != die || kill -KILL $$; exit 3`, "t"}, Ask: route.AskNone}))
	mux.Handle("/asked", h.Tool("asked", route.Tool{Argv: []string{"/bin/true"}, Ask: route.AskAll}))
	mux.Handle("/none", h.Tool("none", route.Tool{Argv: []string{dir + "/none"}, Ask: route.AskNone}))
	mux.Handle("/open", h.Opener("/bin/true"))
	s := httptest.NewServer(mux)
	defer s.Close()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	framed := string(of(frame.Word, []byte("hunter2")...)) + string(of(frame.Go))
	for _, c := range []struct{ method, path, kind, body, outcome, refused string }{
		{"POST", "/t?arg=hunter2&arg=b", "text/plain", "", "2 words, status 3", ""},
		{"POST", "/t?arg=die", "text/plain", "", "1 word, ended by signal 9", ""},
		{"POST", "/t", "application/json", `{"args":["hunter2"]}`, "1 word, status 3", ""},
		{"POST", "/t", frame.ContentType, "hunter2!", "", "the call was not described"},
		{"POST", "/t", "application/json", `{"args":["a\u0000hunter2"]}`, "1 word", "word 1: a NUL byte"},
		{"POST", "/t", "application/json", `hunter2`, "", "not JSON"},
		{"POST", "/t?cwd=hunter2", "text/plain", "", "", "the working folder: not an absolute path"},
		{"GET", "/t", "", "", "", "a call of a tool is a POST"},
		{"POST", "/asked?arg=hunter2", "text/plain", "", "1 word, asked", "nobody to ask"},
		{"POST", "/asked", frame.ContentType, framed, "1 word, asked", "nobody to ask"},
		{"POST", "/none", "text/plain", "", "", "not there any more"},
		{"POST", "/open", "text/plain", "https://a.example/hunter2", "a.example, asked", "nobody to ask"},
		{"POST", "/open", "text/plain", "file:///hunter2", "", "want http or https"},
	} {
		told = nil
		r, err := http.NewRequest(c.method, s.URL+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", c.kind)
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(c.path, err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		h.work.Wait() // until the call is over
		mu.Lock()
		if len(told) != 1 {
			t.Fatalf("%s %s %s: told %d times: %+v", c.path, c.kind, c.body, len(told), told)
		}
		m := told[0]
		refused := ""
		if m.Refused != nil {
			refused = m.Refused.Error()
		}
		if m.Outcome() != c.outcome || !strings.Contains(refused, c.refused) || (refused == "") != (c.refused == "") {
			t.Errorf("%s %s %s: %q, refused %q", c.path, c.kind, c.body, m.Outcome(), refused)
		}
		if strings.Contains(m.Outcome()+refused, "hunter2") {
			t.Errorf("%s %s: what is told has its words: %q %q", c.path, c.kind, m.Outcome(), refused)
		}
		mu.Unlock()
	}
}
