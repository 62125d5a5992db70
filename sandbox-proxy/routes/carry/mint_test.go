package carry_test

import (
	"io"
	"net/http"
	"testing"
)

// A program gets no key of its own by the one that it has not.
func TestNoOtherKey(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ek_another") })
	l := start(t, model("http://"+at+"/v1"), nil)
	for _, c := range []struct {
		method, path string
		refused      bool
	}{
		{"POST", "/realtime/client_secrets", true},
		{"POST", "/v1/realtime/sessions?x", true},
		{"POST", "/realtime/%73essions", true},
		{"post", "/Realtime//Transcription_Sessions/;x", true},
		{"POST", "/chatkit/sessions", true},
		{"POST", "/auth_tokens", true},
		{"POST", "/organization/projects/p/service_accounts", true},
		{"POST", "/organization/admin_api_keys", true},
		{"POST", "/keys", true},
		{"GET", "/keys", false},
		{"POST", "/sessions", false},
		{"POST", "/realtime/calls", false},
		{"POST", "/files", false},
	} {
		resp, body := l.ask(c.method, c.path, "{}")
		if got := resp.StatusCode == 403 && resp.Header.Get("Lnk-Refused") == "credential"; got != c.refused || !got && body != "ek_another" {
			t.Errorf("%s %s: %s %q", c.method, c.path, resp.Status, body)
		}
	}
}
