package proxy

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// refusedHeader carries the reason of a refusal. It is taken out of what
// others answer, so that only the proxy can say it.
const refusedHeader = "Lnk-Refused"

// An answer is a last word of the proxy's own to an HTTP request.
type answer struct {
	status int
	header http.Header
	body   string
	last   bool // nothing more is read on the connection
	// phrase stands behind the status' own words. It is all that many clients
	// show of an answer to CONNECT.
	phrase string
}

// plainAnswer is one line of text.
func plainAnswer(status int, line string) answer {
	return answer{status: status, phrase: ": " + line, body: line + "\n", header: http.Header{
		"Content-Type":           {"text/plain; charset=utf-8"},
		"X-Content-Type-Options": {"nosniff"},
		"Cache-Control":          {"no-store"},
	}}
}

// of gives the answer that a refusal is, in JSON where accept asks for it.
func (r *Refusal) of(accept []string) answer {
	a := plainAnswer(r.status(), r.Error())
	if asksJSON(accept) {
		a.header.Set("Content-Type", "application/json")
		a.body = r.json()
	}
	a.header.Set(refusedHeader, string(r.Reason))
	if r.retry > 0 {
		a.header.Set("Retry-After", strconv.Itoa(int(math.Ceil(r.retry.Seconds()))))
	}
	if r.Reason == Forbidden {
		a.header.Set("Proxy-Authenticate", `Basic realm="lnk sandbox"`)
	}
	return a
}

func (r *Refusal) status() int {
	switch r.Reason {
	case judge.Malformed:
		return http.StatusBadRequest
	case judge.Unresolved, Unreadable:
		return http.StatusBadGateway
	case Rate:
		return http.StatusTooManyRequests
	case Busy, Stopped, Paused:
		return http.StatusServiceUnavailable
	case Forbidden:
		return http.StatusProxyAuthRequired
	}
	return http.StatusForbidden
}

// json is the refusal for programs. Host is escaped as in the text where it
// was malformed.
func (r *Refusal) json() string {
	type open struct {
		Member string `json:"member"`
		Flag   string `json:"flag,omitempty"`
	}
	said := struct {
		Sandbox string       `json:"sandbox"`
		Host    string       `json:"host,omitempty"`
		Port    uint16       `json:"port,omitempty"`
		Reason  judge.Reason `json:"reason"`
		Detail  string       `json:"detail"`
		Open    *open        `json:"open,omitempty"`
	}{r.Sandbox, r.Host, r.Port, r.Reason, r.Detail, nil}
	if r.Open.Member != "" {
		said.Open = &open{r.Open.Member, r.Open.Flag}
	}
	b, err := json.Marshal(said)
	if err != nil {
		return "{}\n" // strings and numbers only: it cannot fail
	}
	return string(b) + "\n"
}

// asksJSON says whether an Accept names JSON by itself (RFC 9110 section
// 12.5.1), which */* does not.
func asksJSON(accept []string) bool {
	for _, line := range accept {
		for part := range strings.SplitSeq(line, ",") {
			kind, params, _ := strings.Cut(part, ";")
			kind = strings.ToLower(strings.TrimSpace(kind))
			if (kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")) && !zeroQuality(params) {
				return true
			}
		}
	}
	return false
}

func zeroQuality(params string) bool {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return err == nil && q == 0
		}
	}
	return false
}

// write gives the answer to a request through the server. It is the last on
// the connection where the gate lets nothing through behind the request.
func (a answer) write(w http.ResponseWriter, to *head) {
	h := w.Header()
	clear(h)
	for name, values := range a.header {
		h[name] = values
	}
	h.Set("Content-Length", strconv.Itoa(len(a.body)))
	if a.last || to.bad != nil || to.takesOver() {
		h.Set("Connection", "close")
	}
	w.WriteHeader(a.status)
	io.WriteString(w, a.body)
}

// send gives the answer on a connection that no server holds, and ends it.
func (a answer) send(g *gate) {
	var b strings.Builder
	b.WriteString("HTTP/1.1 " + strconv.Itoa(a.status) + " " + http.StatusText(a.status) + a.phrase + "\r\n")
	a.header.Set("Content-Length", strconv.Itoa(len(a.body)))
	a.header.Set("Connection", "close")
	a.header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	a.header.Write(&b)
	b.WriteString("\r\n" + a.body)
	g.Conn.SetWriteDeadline(time.Now().Add(headTime))
	g.proxy.wait(g)
	if _, err := io.WriteString(g.Conn, b.String()); err == nil {
		g.linger()
	}
	g.Close()
}

// linger reads and throws away what the program has sent on, so that closing
// does not reset the connection under the answer.
func (g *gate) linger() {
	if half, ok := g.Conn.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
	g.SetReadDeadline(time.Now().Add(lingerTime))
	g.proxy.wait(g)
	defer g.arrived()
	io.CopyN(io.Discard, g.Conn, lingerBytes)
}

// Fixed words for what went wrong on the way: the program must not be able to
// map the network by them.
const (
	wordsFailed    = "the host could not be reached"
	wordsNotServed = "nothing inside answers at that port"
	wordsCut       = "the host ended the connection before it answered"
	wordsUnread    = "what the host answered is not HTTP/1"
	wordsLong      = "the host's answer has a head longer than 64 KiB"
	wordsSwitched  = "the host switched to a protocol that was not asked for"
)

// What the log says of it besides.
const (
	wordsLeft = "the program had left before it was told"
	wordsHalf = "the host ended the connection before its answer was whole"
	wordsOwn  = "it has led to an address of this machine"
	wordsRoom = "too much is open at once"
)

// A failure is why a call that was let through came to nothing: in words for
// the program, which must not be able to map the network by them, and in those
// for the log.
type failure struct {
	words, detail string
	busy          bool // it may be tried again soon
}

// failureOf is the failure of a call that was not connected.
func failureOf(err error) failure {
	var u *upstreamError
	var unsafe *unsafeError
	switch {
	case noRoom(err):
		return failure{wordsRoom, wordsRoom, true}
	case errors.As(err, &u):
		return failure{u.words, u.words, false}
	case errors.As(err, &unsafe):
		return failure{unsafe.words, unsafe.words, false}
	case errors.Is(err, errOwn):
		return failure{wordsFailed, wordsOwn, false}
	}
	return failure{wordsFailed, wordsFailed, false}
}

// cameToNothing is the answer to a call that was let through and could not be
// connected.
func (p *Proxy) cameToNothing(err error) answer { return p.answerTo(failureOf(err)) }

func (p *Proxy) answerTo(f failure) answer {
	a := p.failed(f.words)
	if f.busy {
		a.status = http.StatusServiceUnavailable
		a.header.Set("Retry-After", "1")
	}
	return a
}

// failed is the answer to a call that was let through and came to nothing.
func (p *Proxy) failed(words string) answer {
	return plainAnswer(http.StatusBadGateway, "lnk sandbox "+p.config.Sandbox+": "+words)
}

// noAnswer gives the words for an answer that is none of the host's, or none
// that can be passed on.
func (c *call) noAnswer(forwarded bool, resp *http.Response) string {
	status := resp.StatusCode
	switch {
	case forwarded && status == http.StatusProxyAuthRequired:
		return c.upstream().said(resp)
	case status == http.StatusSwitchingProtocols:
		return wordsSwitched
	case status < http.StatusOK:
		return wordsUnread
	}
	return ""
}

// unanswered is the failure of a request that has got no answer.
func unanswered(err error, connected bool) failure {
	var ne net.Error
	words := wordsUnread
	switch {
	case !connected:
		return failureOf(err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &ne), errors.Is(err, net.ErrClosed), closedIdle(err):
		words = wordsCut
	case errors.Is(err, errLongAnswer), strings.Contains(err.Error(), "response headers exceeded"): // net/http has no name for it
		words = wordsLong
	}
	return failure{words, words, false}
}

// closedIdle says whether a host hung up on a request that came on a kept
// connection, and that could not be sent again. net/http has no name for it.
func closedIdle(err error) bool {
	return strings.HasSuffix(err.Error(), "server closed idle connection")
}
