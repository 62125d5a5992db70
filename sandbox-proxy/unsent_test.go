package proxy_test

import (
	"errors"
	"net/http"
	"syscall"
	"testing"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// missing has the proxy answer requests to itself as one with routes does that
// has none of the name.
func missing(l **lab) option {
	return with(func(_ *judge.Rules, c *proxy.Config) {
		c.Local = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.RequestURI == "/visit" {
				(*l).proxy.Visit(w, r, "tool/x", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
				return
			}
			(*l).proxy.Missing(w, r)
		})
	})
}

// A refusal does not wait for the body of what is refused: the program may wait
// for it, and one that wants to hold a connection would never send any. Nor is
// what follows read as a request.
func TestRefusedBeforeTheBody(t *testing.T) {
	var l *lab
	l = newLab(t, hosts("ok.test"), missing(&l))
	for asked, want := range map[string]int{
		"POST http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n":                         403,
		"POST http://ok.test:99/ HTTP/1.1\r\nHost: ok.test:99\r\n":                       403,
		"POST http://ok.test/ HTTP/1.1\r\nHost: other.test\r\n":                          400,
		"POST http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\nExpect: 100-continue\r\n": 403,
		"POST /nothing HTTP/1.1\r\nHost: localhost\r\n":                                  404,
		"POST / HTTP/1.1\r\nHost: ok.test\r\n":                                           404,
	} {
		for _, framing := range []string{"Content-Length: 500\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n1f4\r\n"} {
			c := l.client().say("%s", asked+framing)
			if resp, _ := c.answer(); resp.StatusCode != want {
				t.Errorf("%q: %d", asked+framing, resp.StatusCode)
			}
			c.say("GET http://ok.test/smuggled HTTP/1.1\r\nHost: ok.test\r\n\r\n").CloseWrite()
			if rest, err := c.rest(); rest != "" || err != nil && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("%q: and then %q, %v", asked+framing, rest, err)
			}
		}
	}
	l.proxy.Pause("")
	c := l.client().say("POST /visit HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n")
	if resp, _ := c.answer(); resp.StatusCode != 503 {
		t.Errorf("a visit in a pause: %d", resp.StatusCode)
	}
	if len(l.dials()) > 0 {
		t.Errorf("dialled %q", l.dials())
	}
}
