package carry_test

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// An answer that comes compressed although it was asked not to be holds the key
// as little as any other, is read as it comes, and is counted.
func TestModelPacked(t *testing.T) {
	packers := map[string]func(io.Writer) interface {
		io.WriteCloser
		Flush() error
	}{
		"gzip": func(w io.Writer) interface {
			io.WriteCloser
			Flush() error
		} {
			return gzip.NewWriter(w)
		},
		"deflate": func(w io.Writer) interface {
			io.WriteCloser
			Flush() error
		} {
			return zlib.NewWriter(w)
		},
		"raw": func(w io.Writer) interface {
			io.WriteCloser
			Flush() error
		} {
			raw, _ := flate.NewWriter(w, -1)
			return raw
		},
	}
	read := make(chan bool)
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		coding, _, _ := strings.Cut(r.URL.RawQuery, "&")
		w.Header().Set("Content-Encoding", strings.Replace(coding, "raw", "deflate", 1))
		w.Header().Set("Trailer", "X-Late")
		z := packers[coding](w)
		fmt.Fprintf(z, "data: {\"choices\":[{\"delta\":{\"content\":\"%s\"}}]}\n\n", r.Header.Get("Authorization"))
		z.Flush()
		w.(http.Flusher).Flush()
		<-read
		io.WriteString(z, "data: {\"usage\":{\"prompt_tokens\":8,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n")
		z.Close()
		w.Header().Set("X-Late", "yes")
	})
	l := start(t, model("http://"+at), nil)
	for coding := range packers {
		resp := l.open("POST", "/v1/chat/completions?"+coding, "{}", "Accept-Encoding", coding)
		lines := bufio.NewReader(resp.Body)
		first, err := lines.ReadString('\n') // comes before the rest is written
		if err != nil || strings.Contains(first, key) || !strings.Contains(first, "Bearer key-of-this-sandbox") {
			t.Errorf("%s: %q %v", coding, first, err)
		}
		read <- true
		rest, err := io.ReadAll(lines)
		if err != nil || !strings.HasSuffix(string(rest), "[DONE]\n\n") || resp.Trailer.Get("X-Late") != "yes" || resp.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %q %v, head %v, trailers %v", coding, rest, err, resp.Header, resp.Trailer)
		}
		resp.Body.Close()
	}
	if got := l.counts(3); got != [6]uint64{3, 0, 24, 9} {
		t.Errorf("counted %v", got)
	}
}

// What cannot be unpacked is not passed on where a key could be in it: nor what
// only says that it is packed. An answer without a body holds nothing.
func TestModelPackedUnreadably(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", r.Header.Get("X-Coding"))
		if r.URL.Path == "/empty" {
			w.Header().Set("Content-Length", "0")
			return
		}
		io.WriteString(w, r.Header.Get("Authorization"))
	})
	l := start(t, model("http://"+at), nil)
	for _, coding := range []string{"br", "zstd", "compress", "gzip, br", "aes128gcm", "gzip, gzip, gzip, gzip"} {
		resp, body := l.ask("GET", "/v1/models", "", "X-Coding", coding)
		if resp.StatusCode != 502 || resp.Header.Get("Lnk-Refused") != "unreadable" || strings.Contains(body, key) {
			t.Errorf("%s: %d %v %q", coding, resp.StatusCode, resp.Header, body)
		}
		if resp, _ := l.ask("HEAD", "/v1/models", "", "X-Coding", coding); resp.StatusCode != 200 || resp.Header.Get("Content-Encoding") != coding {
			t.Errorf("HEAD, %s: %d %v", coding, resp.StatusCode, resp.Header)
		}
		if resp, _ := l.ask("GET", "/empty", "", "X-Coding", coding); resp.StatusCode != 200 {
			t.Errorf("nothing in %s: %d", coding, resp.StatusCode)
		}
	}
	resp := l.open("GET", "/v1/models", "", "X-Coding", "gzip")
	if body, err := io.ReadAll(resp.Body); err == nil || strings.Contains(string(body), key) {
		t.Errorf("no gzip: %q, and it looks whole", body)
	}
	resp.Body.Close()
	one := model("http://" + at)
	k := one.Kind.(route.Model)
	k.Value = "Bearer none"
	one.Kind = k
	if resp, body := start(t, one, nil).ask("GET", "/v1/models", "", "X-Coding", "br"); body != "Bearer none" || resp.Header.Get("Content-Encoding") != "br" {
		t.Errorf("without a key to look for: %v %q", resp.Header, body)
	}
}
