package carry_test

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
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
		"Anthropic-Version", "Accept-Encoding", "Sec-Websocket-Protocol", "X-Hop", "Forwarded", "X-Forwarded-Host", "X-Real-Ip", "X-Http-Method-Override",
	} {
		if v, there := r.Header[name]; there {
			said := strings.Join(v, ",")
			if name == "Authorization" {
				said = backwards(said) // or it would be found
			}
			fmt.Fprintf(w, " %s=%s", name, said)
		}
	}
	fmt.Fprintf(w, "|%s", body)
}

func backwards(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

func TestModelKey(t *testing.T) {
	at := serve(t, echo)
	l := start(t, model("http://"+at+"/v1"), nil)
	_, got := l.ask("POST", "/chat/completions?api-version=1&key=mine&$httpHeaders=Authorization:mine&oauth_token=mine&%6bey=mine&x=a%26b&a=1;Key=mine&q", `{"model":"m"}`,
		"authorization", "Bearer mine", "AUTHORIZATION", "Bearer mine2", "x-api-key", "mine", "api-key", "mine", "X-Goog-Api-Key", "mine", "X_Api_Key", "mine",
		"Cookie", "mine", "Proxy-Authorization", "mine", "X-Original-URL", "/admin", "X_Rewrite_Url", "/admin", "X-Forwarded-Host", "elsewhere.test", "Forwarded", "host=elsewhere.test", "X-HTTP-Method-Override", "PUT", "Transfer_Encoding", "chunked", "Lnk-Caller", "mine", "anthropic-version", "2023-06-01", "Accept-Encoding", "gzip, br",
		"Connection", "X-Hop, Authorization", "X-Hop", "1", "Sec-WebSocket-Protocol", "realtime, OpenAI-insecure-api-key.mine", "Sec-WebSocket-Protocol", "openai-beta.realtime-v1")
	want := "POST /v1/chat/completions?api-version=1&x=a%26b&q host=" + at +
		"| Authorization=" + backwards("Bearer "+key) + ` Anthropic-Version=2023-06-01 Accept-Encoding=identity Sec-Websocket-Protocol=realtime, openai-beta.realtime-v1|{"model":"m"}`
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
		{"/v1", "/..%20/admin", ""},
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
	if resp, body := l.ask("POST", "/v1/chat/completions", "{}"); !strings.HasPrefix(body, `{"usage":{"prompt`) || resp.Header.Get("Content-Encoding") != "" {
		t.Errorf("in gzip: %v %q", resp.Header, body)
	}
	if resp, body := l.ask("POST", "/v1/embeddings", "{}"); resp.StatusCode != 502 || resp.Header.Get("Lnk-Refused") != "unreadable" {
		t.Errorf("in br: %d %v %q", resp.StatusCode, resp.Header, body)
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
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		said := r.Header.Get("Authorization") + r.Header.Get("Sec-Websocket-Extensions")
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\nX-Sent: "+said+"\r\n\r\n\x81"+string(rune(len(said)))+said)
		io.Copy(io.Discard, c)
	})
	l := start(t, model("http://"+at), nil)
	resp := l.open("GET", "/v1/realtime", "", "Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Extensions", "permessage-deflate")
	want := "Bearer " + instead(key)
	if resp.StatusCode != 101 || resp.Header.Get("X-Sent") != want {
		t.Fatal(resp)
	}
	frame := make([]byte, 2+len(want))
	if _, err := io.ReadFull(l.rest, frame); err != nil || string(frame[2:]) != want {
		t.Errorf("%q %v", frame, err)
	}
	l.conn.Close()
	if got := l.counts(1); got != [6]uint64{1, 1} {
		t.Errorf("counted %v", got)
	}
	if resp, _ := l.ask("GET", "/v1/realtime", "", "Connection", "Upgrade", "Upgrade", "other"); resp.StatusCode != 502 {
		t.Error(resp.StatusCode)
	}
}

func instead(of string) string {
	const says = "key-of-this-sandbox-stays-outside-"
	return strings.Repeat(says, len(of)/len(says)+1)[:len(of)]
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
	if _, body := l.ask("GET", "/x", ""); !strings.Contains(body, backwards("Bearer "+key)) {
		t.Error(body)
	}
	asked = false
	l = start(t, model(s.URL), nil)
	if resp, _ := l.ask("GET", "/x", ""); resp.StatusCode != 502 || asked {
		t.Errorf("%d to a server that nobody vouches for, asked: %v", resp.StatusCode, asked)
	}
}

func TestModelVariables(t *testing.T) {
	for provider, want := range map[string]string{"anthropic": "ANTHROPIC_BASE_URL", "openai": "OPENAI_BASE_URL", "google": "GOOGLE_GEMINI_BASE_URL"} {
		if got := (route.Route{Kind: route.Model{Provider: provider}}).Variables(); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %v", provider, got)
		}
	}
}

// An API that says what it was sent says it to nobody.
func TestModelKeyDoesNotComeBack(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		sent := r.Header.Get("Authorization")
		w.Header().Set("X-Sent", sent)
		w.Header().Set("X-"+key, "1")
		w.Header().Set("Link", "<"+key+">")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("Trailer", "X-Late")
		w.WriteHeader(401)
		for _, said := range []string{
			sent, base64.StdEncoding.EncodeToString([]byte("u:" + key + ":x")), base64.URLEncoding.EncodeToString([]byte(sent)),
			hex.EncodeToString([]byte(sent)), url.QueryEscape(sent), `{"error":"Incorrect API key provided: ` + key + `."}`,
		} {
			for i := range said {
				io.WriteString(w, said[i:i+1])
				w.(http.Flusher).Flush()
			}
			io.WriteString(w, "\n")
		}
		w.Header().Set("X-Late", sent)
	})
	for value, key := range map[string]string{"Bearer " + key: key, key: key, "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+key)): key} {
		one := model("http://" + at)
		k := one.Kind.(route.Model)
		k.Value = value
		one.Kind = k
		l := start(t, one, nil)
		resp, body := l.ask("POST", "/v1/messages", "{}")
		all := fmt.Sprint(l.early, resp.Header, resp.Trailer, body)
		for _, part := range []string{key, hex.EncodeToString([]byte(key)), base64.StdEncoding.EncodeToString([]byte(key))[:20], strings.TrimPrefix(value, "Basic ")} {
			if strings.Contains(strings.ToLower(all), strings.ToLower(part)) {
				t.Errorf("%s: %s comes back: %s", value, part, all)
			}
		}
		for _, part := range strings.FieldsFunc(body, func(r rune) bool {
			return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=", r)
		}) {
			for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
				if plain, _ := e.DecodeString(part); bytes.Contains(plain, []byte(key)) {
					t.Errorf("%s: in base64 it comes back: %s", value, part)
				}
			}
		}
		if resp.StatusCode != 401 || !strings.Contains(body, `{"error":"Incorrect API key provided: key-of-this-sandbox-`) {
			t.Errorf("%d %s", resp.StatusCode, body)
		}
	}
}

// What is too short for a key is a word, and words are left alone.
func TestModelWordsStay(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "none of it") })
	one := model("http://" + at)
	k := one.Kind.(route.Model)
	k.Value = "Bearer none"
	one.Kind = k
	if _, body := start(t, one, nil).ask("GET", "/", ""); body != "none of it" {
		t.Error(body)
	}
}

// Neither the URL secret nor a range nor a trailer goes to an API.
func TestModelHeadAndTrailers(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, r.Header["Referer"], r.Header["Range"], r.Header["If-Range"], r.Header["Request-Range"], r.Header["X-Ms-Range"], r.Trailer)
	})
	l := start(t, model("http://"+at+"/v1"), nil)
	_, body := l.ask("POST", "/x", "", "Referer", l.base+"/chat?a=b", "Range", "bytes=0-1", "If-Range", "x", "Request-Range", "bytes=0-1", "X-Ms-Range", "bytes=0-1", "Trailer", "X-End",
		"Transfer-Encoding", "chunked\r\n\r\n2\r\nhi\r\n0\r\nX-End: yes\r\n\r\nGET / HTTP/1.1\r\nHost")
	if want := "[http://" + at + "/v1/chat] [] [] [] [] map[]"; body != want {
		t.Errorf("%s, want %s", body, want)
	}
}
