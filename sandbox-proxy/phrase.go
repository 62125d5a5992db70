package proxy

import (
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// maxPhrase bounds what a host says behind its status, in bytes.
const maxPhrase = 1024

// A statusLine is what a host said in its own words of how a request ended. The
// server knows its own words only, and some clients show nothing else: pip, of
// a package that is held back.
type statusLine struct {
	status string // three digits
	phrase string
}

// statusOf is what an answer says that the server would not; nil is nothing.
func statusOf(resp *http.Response) *statusLine {
	status := strconv.Itoa(resp.StatusCode)
	phrase, ok := strings.CutPrefix(resp.Status, status+" ")
	if !ok || phrase == http.StatusText(resp.StatusCode) || len(phrase) > maxPhrase || !httpguts.ValidHeaderFieldValue(phrase) {
		return nil
	}
	return &statusLine{status, phrase}
}

// in gives b, which the server writes, with the host's words, and whether b is
// the head that they belong to.
func (s *statusLine) in(b []byte) ([]byte, bool) {
	head := string(b[:min(len(b), len("HTTP/1.1 200"))])
	version, status, ok := strings.Cut(head, " ")
	if !ok || status != s.status || !strings.HasPrefix(version, "HTTP/1.") {
		return b, false
	}
	_, rest, ok := strings.Cut(string(b[len(head):]), "\r\n")
	if !ok {
		return b, false
	}
	return []byte(head + " " + s.phrase + "\r\n" + rest), true
}
