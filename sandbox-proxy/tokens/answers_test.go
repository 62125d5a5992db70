package tokens_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tokens"
)

// A recorded is one answer of testdata: its name, what was asked, what it
// used, and its body, of our own making after what each provider documents.
type recorded struct {
	name, method, path, want, body string
}

func (r recorded) form(t testing.TB) tokens.Form {
	path, _, _ := strings.Cut(r.path, "?")
	f, ok := tokens.FormOf(r.method, path)
	if !ok {
		t.Fatalf("%s: %s %s asks for no answer", r.name, r.method, r.path)
	}
	return f
}

func readRecorded(t testing.TB) []recorded {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no recorded answers", err)
	}
	var all []recorded
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for one := range strings.SplitSeq("\n"+string(text), "\n== ") {
			if one == "" {
				continue
			}
			lines := strings.SplitN(one, "\n", 4)
			method, path, _ := strings.Cut(lines[1], " ")
			all = append(all, recorded{filepath.Base(file) + ": " + lines[0], method, path, lines[2], lines[3] + "\n"})
		}
	}
	return all
}

// said is what an answer used, as testdata has it.
func said(u tokens.Usage, metered bool) string {
	if !metered {
		return "unmetered"
	}
	s := fmt.Sprintf("input %d output %d", u.Input, u.Output)
	if u.Cached > 0 {
		s += fmt.Sprintf(" cached %d", u.Cached)
	}
	if u.Written > 0 {
		s += fmt.Sprintf(" written %d", u.Written)
	}
	return s
}

func read(f tokens.Form, coding string, whole bool, pieces ...[]byte) string {
	a := f.Answer(coding)
	for _, p := range pieces {
		a.Write(p)
	}
	return said(a.End(whole))
}

func TestAnswers(t *testing.T) {
	for _, r := range readRecorded(t) {
		f := r.form(t)
		if got := read(f, "", true, []byte(r.body)); got != r.want {
			t.Errorf("%s: %s, want %s", r.name, got, r.want)
		}
	}
}

// Cut at every byte into two, and a byte at a time.
func TestAnswersCut(t *testing.T) {
	for _, r := range readRecorded(t) {
		f, b := r.form(t), []byte(r.body)
		for i := range b {
			if got := read(f, "identity", true, b[:i], b[i:]); got != r.want {
				t.Fatalf("%s, cut at %d: %s, want %s", r.name, i, got, r.want)
			}
		}
		a := f.Answer("")
		for i := range b {
			a.Write(b[i : i+1])
		}
		if got := said(a.End(true)); got != r.want {
			t.Errorf("%s, a byte at a time: %s, want %s", r.name, got, r.want)
		}
	}
}

// Every line ending that a stream may have, and a byte order mark.
func TestAnswersLineEndings(t *testing.T) {
	for _, r := range readRecorded(t) {
		f := r.form(t)
		for _, end := range []string{"\r\n", "\r"} {
			b := []byte("\ufeff" + strings.ReplaceAll(r.body, "\n", end))
			for i := 0; i < len(b); i += 1 + len(b)/64 {
				if got := read(f, "", true, b[:i], b[i:]); got != r.want {
					t.Fatalf("%s, lines end in %q, cut at %d: %s, want %s", r.name, end, i, got, r.want)
				}
			}
		}
	}
}

// An answer that is cut before its last word is unmetered; one that is cut
// behind it gives what it said.
func TestAnswersEndEarly(t *testing.T) {
	for _, r := range readRecorded(t) {
		if strings.HasPrefix(r.name, "broken.txt") {
			continue // some are broken by what comes last
		}
		f, b := r.form(t), []byte(r.body)
		metered := false
		for i := range len(b) + 1 {
			switch got := read(f, "", false, b[:i]); {
			case got == r.want && got != "unmetered":
				metered = true
			case got != "unmetered":
				t.Fatalf("%s, ended at %d: %s, want %s or none", r.name, i, got, r.want)
			case metered:
				t.Fatalf("%s, ended at %d: unmetered, but metered before", r.name, i)
			}
		}
		streamed := r.body[0] != '{' && r.body[0] != '['
		last := strings.Contains(r.body, "[DONE]") || strings.Contains(r.body, `"message_stop"`) || strings.Contains(r.body, `"response.`)
		if want := r.want != "unmetered" && (!streamed || last); metered != want {
			t.Errorf("%s, all there but not ended: metered %v, want %v", r.name, metered, want)
		}
	}
}

func TestAnswersPacked(t *testing.T) {
	pack := map[string]func(io.Writer) io.WriteCloser{
		"gzip":      func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		" X-GZip":   func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"deflate":   func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
		"br":        nil,
		"gzip, br":  nil,
		"something": nil,
	}
	for _, r := range readRecorded(t) {
		for coding, with := range pack {
			b, want := []byte(r.body), "unmetered"
			if with != nil {
				var packed bytes.Buffer
				w := with(&packed)
				w.Write(b)
				w.Close()
				b, want = packed.Bytes(), r.want
			}
			for i := 0; i < len(b); i += 1 + len(b)/8 {
				if got := read(r.form(t), coding, true, b[:i], b[i:]); got != want {
					t.Errorf("%s, packed as %s, cut at %d: %s, want %s", r.name, coding, i, got, want)
				}
			}
			if got := read(r.form(t), coding, true, b[:len(b)/2]); with != nil && got != "unmetered" {
				t.Errorf("%s, half of it packed as %s: %s", r.name, coding, got)
			}
			if got := read(r.form(t), coding, true, b, []byte("junk")); coding == "gzip" && got != "unmetered" {
				t.Errorf("%s, junk behind its end: %s", r.name, got)
			}
		}
		if got := read(r.form(t), "gzip", true, []byte(r.body)); got != "unmetered" {
			t.Errorf("%s, said to be packed: %s", r.name, got)
		}
	}
}

func TestFormOf(t *testing.T) {
	for _, c := range []struct {
		method, path string
		want         tokens.Form
	}{
		{http.MethodPost, "/v1/messages", tokens.Messages},
		{http.MethodPost, "/v1/messages/", tokens.Messages},
		{http.MethodPost, "messages", tokens.Messages},
		{"post", "/v1/messages", tokens.Messages},
		{http.MethodPost, "/v1/%6dessages", tokens.Messages},
		{http.MethodPost, "/v1/%256Dessages", tokens.Messages},
		{http.MethodPost, "/v1%2Fmessages", tokens.Messages},
		{http.MethodPost, "/v1/Messages//", tokens.Messages},
		{http.MethodPost, "/v1/messages;a=b", tokens.Messages},
		{http.MethodPost, "/v1/messages/;a", tokens.Messages},
		{http.MethodPost, "/v1/messages%3Fx", tokens.Messages},
		{http.MethodPost, "/v1/messages%23", tokens.Messages},
		{http.MethodPost, "/v1/messages%20", tokens.Messages},
		{http.MethodPost, "/v1/messages/.", tokens.Messages},
		{http.MethodPost, "/v1/messages/x/..", tokens.Messages},
		{http.MethodPost, "/v1/models/%2e%2e/messages", tokens.Messages},
		{http.MethodPost, `/v1\messages`, tokens.Messages},
		{http.MethodPost, "/v1/messages/%zz", 0},
		{http.MethodGet, "/v1/messages", 0},
		{http.MethodHead, "/v1/messages", 0},
		{http.MethodPost, "/v1/messages/count_tokens", 0},
		{http.MethodPost, "/v1/messages/batches", 0},
		{http.MethodPost, "/v1/chat/completions", tokens.Completions},
		{http.MethodPost, "/chat/completions", tokens.Completions},
		{http.MethodPost, "/v1/completions", tokens.Completions},
		{http.MethodPost, "/v1/responses", tokens.Responses},
		{http.MethodPost, "/v1/responses/compact", tokens.Responses},
		{http.MethodGet, "/v1/responses/resp_1", 0},
		{http.MethodPost, "/v1/responses/resp_1/cancel", 0},
		{http.MethodPost, "/v1/responses/input_tokens", 0},
		{http.MethodPost, "/v1/embeddings", tokens.Embeddings},
		{http.MethodPost, "/v1/images/generations", tokens.Completions},
		{http.MethodPost, "/v1/images/generation", 0},
		{http.MethodPost, "/generations", 0},
		{http.MethodPost, "/v1/moderations", 0},
		{http.MethodPost, "/v1/files", 0},
		{http.MethodPost, "/v1/batches", 0},
		{http.MethodGet, "/v1/models", 0},
		{http.MethodPost, "/v1beta/models/m:generateContent", tokens.Generate},
		{http.MethodPost, "/v1beta/models/m%3AgenerateContent", tokens.Generate},
		{http.MethodPost, "/v1beta/models/m:GenerateContent/", tokens.Generate},
		{http.MethodPost, "/v1/chat//completions", tokens.Completions},
		{http.MethodPost, "/v1/IMAGES/generations", tokens.Completions},
		{http.MethodPost, "/v1beta/models/m:countTokens", 0},
		{http.MethodPost, "/v1beta/models/messages:", 0},
		{http.MethodPost, "/v1beta/models/x:messages", 0},
		{http.MethodPost, "", 0},
		{http.MethodPost, "/", 0},
	} {
		if got, ok := tokens.FormOf(c.method, c.path); got != c.want || ok != (c.want != 0) {
			t.Errorf("%s %s: form %d, %v, want %d", c.method, c.path, got, ok, c.want)
		}
	}
}
