package proxy_test

import (
	"net/url"
	"strings"
	"testing"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// Who asks the proxy for a server of its own by an address in brackets is sent
// where it goes without the proxy; what is refused otherwise still is.
func TestOwnServerInBrackets(t *testing.T) {
	opened := func(_ *lab, r *judge.Rules, _ *proxy.Config) { r.Ports = []uint16{81} }
	for line, want := range map[string]struct {
		status   int
		location string
	}{
		"GET http://[::1]:8080/a//b?c=%2F|d": {307, "http://localhost:8080/a//b?c=%2F|d"},
		"HEAD http://[::1]":                  {307, "http://localhost:80/"},
		"GET http://[::1]?q":                 {307, "http://localhost:80/?q"},
		"GET http://[::]:8080/":              {307, "http://localhost:8080/"},
		"GET http://[0:0::1]:8080/":          {307, "http://localhost:8080/"},
		"POST http://[::1]:8080/":            {403, ""},
		"GET https://[::1]:8080/":            {403, ""},
		"GET http://localhost:8080/":         {403, ""},
		"GET http://127.0.0.1:8080/":         {403, ""},
		"GET http://[::ffff:127.0.0.1]/":     {403, ""},
		"GET http://[::2]/":                  {403, ""},
		"GET http://[::1]:81/":               {502, ""}, // opened, and nobody listens
		"CONNECT [::1]:8080":                 {403, ""},
	} {
		l := newLab(t, hosts("ok.test"), opened)
		method, target, _ := strings.Cut(line, " ")
		host := target
		if u, err := url.Parse(target); err == nil && u.Host != "" {
			host = u.Host
		}
		resp, _ := l.client().say("%s HTTP/1.1\r\nHost: %s\r\n\r\n", line, host).answer(method)
		if resp.StatusCode != want.status || resp.Header.Get("Location") != want.location {
			t.Errorf("%s: %s, %q", line, resp.Status, resp.Header.Get("Location"))
		}
		l.mu.Lock()
		if told := len(l.refused) > 0; told != (want.status == 403) {
			t.Errorf("%s: told %v", line, l.refused)
		}
		l.mu.Unlock()
	}
}
