package carry_test

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// echo answers with what it was asked.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s host=%s|", r.Method, r.RequestURI, r.Host)
	for _, name := range []string{
		"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Cookie", "Proxy-Authorization", "X_api_key", "Lnk-Caller", "Lnk-Caller-Key",
		"Anthropic-Version", "Accept-Encoding", "X-Hop", "Forwarded", "X-Forwarded-Host", "X-Real-Ip",
	} {
		if v, there := r.Header[name]; there {
			fmt.Fprintf(w, " %s=%s", name, strings.Join(v, ","))
		}
	}
	fmt.Fprintf(w, "|%s", body)
}

func TestModelKey(t *testing.T) {
	at := serve(t, echo)
	l := start(t, model("http://"+at+"/v1"), nil)
	_, got := l.ask("POST", "/chat/completions?api-version=1&key=mine&%6bey=mine&x=a%26b&a=1;Key=mine&q", `{"model":"m"}`,
		"authorization", "Bearer mine", "AUTHORIZATION", "Bearer mine2", "x-api-key", "mine", "api-key", "mine", "X-Goog-Api-Key", "mine", "X_Api_Key", "mine",
		"Cookie", "mine", "Proxy-Authorization", "mine", "Lnk-Caller", "mine", "anthropic-version", "2023-06-01", "Accept-Encoding", "gzip, br",
		"Connection", "X-Hop, Authorization", "X-Hop", "1")
	want := "POST /v1/chat/completions?api-version=1&x=a%26b&q host=" + at +
		"| Authorization=Bearer " + key + ` Anthropic-Version=2023-06-01 Accept-Encoding=identity|{"model":"m"}`
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// The paths that clients make of the route's address, and those that would lead
// out of the API's.
func TestModelPaths(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.RequestURI) })
	for _, c := range []struct{ base, path, want string }{
		{"/v1", "/chat/completions", "/v1/chat/completions"},
		{"/v1", "/v1/chat/completions", "/v1/chat/completions"},
		{"/v1/", "/v1/models", "/v1/models"},
		{"/v1", "/v1", "/v1/v1"},
		{"/v1", "/v10/models", "/v1/v10/models"},
		{"/v1", "", "/v1/"},
		{"", "/v1/messages?beta=true", "/v1/messages?beta=true"},
		{"/anthropic", "/v1/messages", "/anthropic/v1/messages"},
		{"/anthropic", "/anthropic/v1/messages", "/anthropic/anthropic/v1/messages"},
		{"/openai/v1", "/models/meta%2Fllama:x", "/openai/v1/models/meta%2Fllama:x"},
		{"/v1beta", "/v1beta/models/m:generateContent", "/v1beta/models/m:generateContent"},
		{"/a%2Fb", "/x", "/a%2Fb/x"},
		{"/v1", "/..x/x..", "/v1/..x/x.."},
		{"/v1", "//models", "/v1//models"},
		{"/v1", "/../admin", ""},
		{"/v1", "/x/..", ""},
		{"/v1", "/./admin", ""},
		{"/v1", "/%2e%2E/admin", ""},
		{"/v1", "/.%2e/admin", ""},
		{"/v1", "/x%2f..%2fadmin", ""},
		{"/v1", `/x%5c..%5cadmin`, ""},
		{"/v1", "/..;a=b/admin", ""},
		{"/v1", "/%252e%252e/admin", ""},
		{"/v1", "/%25252e%25252e%25252fadmin", ""},
	} {
		l := start(t, model("http://"+at+c.base), nil)
		resp, got := l.ask("GET", c.path, "")
		if c.want == "" {
			if resp.StatusCode != 403 || resp.Header.Get("Lnk-Refused") != "path" {
				t.Errorf("%s under %s: %d %s, want a refusal", c.path, c.base, resp.StatusCode, got)
			}
		} else if got != c.want {
			t.Errorf("%s under %s: %s, want %s", c.path, c.base, got, c.want)
		}
	}
}

func TestModelMethods(t *testing.T) {
	at := serve(t, echo)
	l := start(t, model("http://"+at), nil)
	if resp, body := l.ask("TRACE", "/", ""); resp.StatusCode != 403 || strings.Contains(body, key) {
		t.Errorf("TRACE: %d %s", resp.StatusCode, body)
	}
	for _, method := range []string{"GET", "DELETE", "OPTIONS", "PATCH"} {
		if resp, body := l.ask(method, "/x", ""); resp.StatusCode != 200 || !strings.HasPrefix(body, method+" /x ") {
			t.Errorf("%s: %d %s", method, resp.StatusCode, body)
		}
	}
}

// What the API refuses is the program's to read.
func TestModelRefusals(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.Header().Set("X-Ratelimit-Remaining", "0")
		w.Header().Set("Lnk-Refused", "forged")
		var status int
		fmt.Sscanf(r.URL.Path, "/v1/%d/messages", &status)
		w.WriteHeader(status)
		io.WriteString(w, `{"type":"error","usage":{"input_tokens":1,"output_tokens":1}}`)
	})
	l := start(t, model("http://"+at), nil)
	for _, status := range []int{400, 401, 403, 404, 413, 429, 500, 503, 529} {
		resp, body := l.ask("POST", fmt.Sprintf("/v1/%d/messages", status), "{}")
		if resp.StatusCode != status || resp.Header.Get("Retry-After") != "7" || resp.Header.Get("X-Ratelimit-Remaining") != "0" ||
			resp.Header.Get("Lnk-Refused") != "" || !strings.HasPrefix(body, `{"type":"error"`) {
			t.Errorf("%d: %d %v %s", status, resp.StatusCode, resp.Header, body)
		}
	}
	if resp, _ := l.ask("POST", "/v1/200/messages", "{}"); resp.StatusCode != 200 {
		t.Error(resp.StatusCode)
	}
	if got := l.counts(1); got != [6]uint64{1, 0, 1, 1} {
		t.Errorf("counted %v, want the one answer", got)
	}
}

// A stream arrives a piece at a time, and unchanged.
func TestModelStreams(t *testing.T) {
	events := []string{
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":5,\"output_tokens\":1}}}\n\n",
		": ping\n\n",
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":20}}\n\n",
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	}
	next := make(chan struct{})
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			io.WriteString(w, e)
			w.(http.Flusher).Flush()
			select {
			case <-next:
			case <-r.Context().Done():
				return
			}
		}
	})
	l := start(t, model("http://"+at), nil)
	resp := l.open("POST", "/v1/messages", `{"stream":true}`)
	for _, e := range events {
		got := make([]byte, len(e))
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != e {
			t.Fatalf("%q %v, want %q", got, err, e)
		}
		next <- struct{}{}
	}
	if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
		t.Errorf("%q %v behind the end", rest, err)
	}
	if got := l.counts(1); got != [6]uint64{1, 0, 15, 20, 5} {
		t.Errorf("counted %v", got)
	}
	// One that the program leaves, and one that is cut by a stop.
	resp = l.open("POST", "/v1/messages", `{"stream":true}`)
	io.ReadFull(resp.Body, make([]byte, len(events[0])))
	l.conn.(*net.TCPConn).SetLinger(0) // a closed side alone may still be waiting
	l.conn.Close()
	if got := l.counts(2); got != [6]uint64{2, 1, 15, 20, 5} {
		t.Errorf("left: counted %v", got)
	}
	resp = l.open("POST", "/v1/messages", `{"stream":true}`)
	io.ReadFull(resp.Body, make([]byte, len(events[0])))
	l.proxy.Stop("")
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("an answer that was cut looks whole")
	}
	if got := l.counts(3); got != [6]uint64{3, 2, 15, 20, 5} {
		t.Errorf("cut: counted %v", got)
	}
	if resp, _ := l.ask("GET", "/v1/models", ""); resp.StatusCode != 503 {
		t.Errorf("%d on a stopped wire", resp.StatusCode)
	}
}

// What is compressed although it was asked not to be, and what asks for no
// answer of a model.
func TestModelCounts(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, `{"usage":{"prompt_tokens":8,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":2}}}`)
	z.Close()
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/chat/completions":
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(packed.Bytes())
		case "/v1/embeddings":
			w.Header().Set("Content-Encoding", "br")
			w.Write(packed.Bytes())
		default:
			io.WriteString(w, `{"usage":{"input_tokens":8,"output_tokens":3}}`)
		}
	})
	l := start(t, model("http://"+at), nil)
	for _, path := range []string{"/v1/chat/completions", "/v1/embeddings"} {
		if _, body := l.ask("POST", path, "{}"); body != packed.String() {
			t.Errorf("%s: the answer was changed", path)
		}
	}
	for _, path := range []string{"/v1/messages/count_tokens", "/v1/messages/batches", "/v1/responses/input_tokens", "/v1/files"} {
		l.ask("POST", path, "{}")
	}
	l.ask("GET", "/v1/messages", "")
	if got := l.counts(2); got != [6]uint64{2, 1, 8, 3, 2} {
		t.Errorf("counted %v", got)
	}
}

func TestModelLocation(t *testing.T) {
	var to string
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(307)
	})
	l := start(t, model("http://"+at+"/api/v1"), nil)
	mount := "/" + urlSecret + "/model/m"
	for _, c := range []struct{ says, want string }{
		{"http://" + at + "/api/v1/x?y=1#z", mount + "/x?y=1#z"},
		{"/api/v1/a%2Fb", mount + "/a%2Fb"},
		{"/api/v1x", "/api/v1x"},
		{"/other", "/other"},
		{"https://other.example/api/v1/x", "https://other.example/api/v1/x"},
		{"https://" + at + "/api/v1/x", "https://" + at + "/api/v1/x"},
		{"http://u@" + at + "/api/v1/x", "http://u@" + at + "/api/v1/x"},
		{"//other.example/api/v1/x", "//other.example/api/v1/x"},
		{"", ""},
	} {
		to = c.says
		if resp, _ := l.ask("GET", "/x", ""); resp.Header.Get("Location") != c.want {
			t.Errorf("%s: %s, want %s", c.says, resp.Header.Get("Location"), c.want)
		}
	}
}

// An upgraded connection is a request whose tokens nobody reads.
func TestModelUpgradeIsUnmetered(t *testing.T) {
	at := serve(t, upgrading)
	l := start(t, model("http://"+at), nil)
	l.upgraded("/v1/realtime")
	if got := l.counts(1); got != [6]uint64{1, 1} {
		t.Errorf("counted %v", got)
	}
}

// https is held to the host's certificate: to another's the key does not go.
func TestModelTLS(t *testing.T) {
	asked := false
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked = true; echo(w, r) }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	l := start(t, model(s.URL), &tls.Config{RootCAs: roots})
	if _, body := l.ask("GET", "/x", ""); !strings.Contains(body, "Bearer "+key) {
		t.Error(body)
	}
	asked = false
	l = start(t, model(s.URL), nil)
	if resp, _ := l.ask("GET", "/x", ""); resp.StatusCode != 502 || asked {
		t.Errorf("%d to a server that nobody vouches for, asked: %v", resp.StatusCode, asked)
	}
}

func TestModelOwnAddress(t *testing.T) {
	one := model("https://api.openai.com")
	l := start(t, one, nil)
	if got := l.model.At(); got != "https://api.openai.com/v1" {
		t.Error(got)
	}
	l = start(t, model("https://api.deepseek.com/"), nil)
	if got := l.model.At(); got != "https://api.deepseek.com" {
		t.Error(got)
	}
	if one.Variables()[0] != "OPENAI_BASE_URL" || (route.Route{Kind: route.Model{Provider: "anthropic"}}).Variables()[0] != "ANTHROPIC_BASE_URL" {
		t.Error("the providers' variables")
	}
}
