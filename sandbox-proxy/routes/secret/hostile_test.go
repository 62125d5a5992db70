package secret_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// hostile is a host that answers in bytes of its own making.
func hostile(t *testing.T, answer func(path string) string, options ...option) *lab {
	return newLab(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		io.WriteString(c, answer(r.URL.Path[1:]))
	}), append([]option{header}, options...)...)
}

// chunks is a chunked body of pieces, with what stands behind each length.
func chunks(extension, trailer string, pieces ...string) string {
	var b strings.Builder
	for _, p := range pieces {
		fmt.Fprintf(&b, "%x%s\r\n%s\r\n", len(p), extension, p)
	}
	return b.String() + "0" + extension + "\r\n" + trailer + "\r\n"
}

// Whatever part of an answer a host puts the value in, nothing that reaches the
// program holds it.
func TestHostileAnswers(t *testing.T) {
	const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
	lower := strings.ToLower(value)
	answers := map[string]string{
		"the reason":                    "HTTP/1.1 418 " + value + "\r\nContent-Length: 0\r\n\r\n",
		"a status that is none":         "HTTP/1.1 2" + value + " OK\r\n\r\n",
		"the protocol":                  value + "/1.1 200 OK\r\n\r\n",
		"a header's name":               "HTTP/1.1 200 OK\r\n" + value + ": 1\r\nContent-Length: 0\r\n\r\n",
		"a header's name in hex":        fmt.Sprintf("HTTP/1.1 200 OK\r\nX-%x: 1\r\nContent-Length: 0\r\n\r\n", value),
		"a header that is none":         "HTTP/1.1 200 OK\r\n" + value + "\r\nContent-Length: 0\r\n\r\n",
		"a folded header":               "HTTP/1.1 200 OK\r\nX-A: 1\r\n\t" + value + "\r\nContent-Length: 0\r\n\r\n",
		"a length that is none":         "HTTP/1.1 200 OK\r\nContent-Length: " + value + "\r\n\r\n",
		"two lengths":                   "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: " + value + "\r\n\r\nx",
		"a coding of the transfer":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + value + "\r\n\r\n",
		"an encoding":                   "HTTP/1.1 200 OK\r\nContent-Encoding: " + value + "\r\nContent-Length: 1\r\n\r\nx",
		"Connection":                    "HTTP/1.1 200 OK\r\nConnection: X-A, " + value + "\r\nX-A: 1\r\nContent-Length: 0\r\n\r\n",
		"Location":                      "HTTP/1.1 302 Found\r\nLocation: https://" + host + "/a?b=" + value + "#" + value + "\r\nContent-Length: 0\r\n\r\n",
		"Location, another's":           "HTTP/1.1 302 Found\r\nLocation: https://u:" + value + "@elsewhere.test/" + value + "\r\nContent-Length: 0\r\n\r\n",
		"Set-Cookie and Link":           "HTTP/1.1 200 OK\r\nSet-Cookie: " + value + "=" + value + "; Path=/" + value + "\r\nLink: <" + value + ">\r\nRefresh: 0; url=" + value + "\r\nContent-Length: 0\r\n\r\n",
		"a chunk's extension":           chunked + "\r\n" + chunks(";"+value+"="+value, "", "ok"),
		"a trailer":                     chunked + "Trailer: X-A\r\n\r\n" + chunks("", "X-A: "+value+"\r\n", "ok"),
		"a trailer that is not told":    chunked + "\r\n" + chunks("", "X-A: "+value+"\r\n", "ok"),
		"a trailer's name":              chunked + "\r\n" + chunks("", "X-"+value+": 1\r\n", "ok"),
		"a trailer's name that is told": chunked + "Trailer: X-" + value + ", x-" + lower + "\r\n\r\n" + chunks("", "X-"+value+": 1\r\n", "ok"),
		"a trailer that is only told":   chunked + "Trailer: " + value + "\r\n\r\n" + chunks("", "", "ok"),
		"an early answer":               "HTTP/1.1 103 " + value + "\r\nLink: <" + value + ">\r\n" + value + ": 1\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
		"an early answer of no kind":    "HTTP/1.1 199 " + value + "\r\nX-A: " + value + "\r\nTrailer: " + value + "\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
		"a switch":                      "HTTP/1.1 101 " + value + "\r\nUpgrade: " + value + "\r\nConnection: Upgrade\r\nX-A: " + value + "\r\n\r\n" + value,
		"more than the length":          "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" + value,
		"events":                        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nid: " + value + "\ndata: " + value[:9] + value[9:] + "\n\n",
		"parts":                         "HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed; boundary=" + value + "\r\n\r\n--" + value + "\r\nX-A: " + value + "\r\n\r\n" + value + "\r\n--" + value + "--\r\n",
		"none of HTTP":                  value + "\r\n" + value + "\r\n\r\n",
	}
	l := hostile(t, func(path string) string { return answers[path] })
	for name := range answers {
		c := l.conn()
		go io.WriteString(c, get("/"+strings.ReplaceAll(name, " ", "%20"), bearer, "TE: trailers"))
		all, _ := io.ReadAll(bufio.NewReader(c)) // an answer that is cut is cut for the program too
		if !bytes.HasPrefix(all, []byte("HTTP/1.1 ")) {
			t.Errorf("%s: %q", name, all)
		}
		never(t, name, string(all))
	}
	for _, r := range l.records() {
		never(t, "a record", fmt.Sprintf("%+v", r))
	}
}

// A body in chunks is one text, wherever its chunks end.
func TestCutAtEveryByte(t *testing.T) {
	text := "<" + value + "|" + base64.StdEncoding.EncodeToString([]byte("id:"+value)) + ">"
	l := hostile(t, func(path string) string {
		at, _ := strconv.Atoi(path)
		return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks("", "", text[:at], text[at:at+2], text[at+2:])
	})
	for at := 1; at < len(text)-2; at++ {
		_, _, body := l.say(get("/"+strconv.Itoa(at), bearer))
		never(t, fmt.Sprint(at), body)
		if !strings.HasPrefix(body, "<"+placeholder+"|") || len(body) != len(text) {
			t.Errorf("%d: %q", at, body)
		}
	}
}

// An escape that another writer escapes again is found too, as by a page that
// shows an address, or JSON that holds one.
func TestEscapedByTwo(t *testing.T) {
	const awkward = `s&c"r<t/\=x+y z`
	asJSON := func(s string) string { b, _ := json.Marshal(s); return strings.Trim(string(b), `"`) }
	for name, text := range map[string]string{
		"twice in an address": url.QueryEscape(url.QueryEscape(awkward)),
		"JSON in JSON":        asJSON(asJSON(awkward)),
		"an address in JSON":  asJSON(url.QueryEscape(awkward)),
	} {
		l := hostile(t, func(string) string { return "HTTP/1.1 200 OK\r\n\r\n<" + text + ">" }, func(s *route.Secret, _ *judge.Rules, _ *proxy.Config) { s.Value = awkward })
		_, _, body := l.say(get("/x", bearer))
		if strings.Contains(body, text) {
			t.Errorf("%s: %q", name, body)
		}
	}
}

func (l *lab) records() []proxy.Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]proxy.Record(nil), l.ended...)
}
