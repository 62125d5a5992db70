package proxy

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes/redact"
)

// admitPlain lets a plain request in, or gives the answer to one that is not.
func (p *Proxy) admitPlain(g *gate, h *head, at target) (c *call, no *answer) {
	by := judge.ByHTTP
	if at.secure {
		by = judge.ByConnect // it goes the way of TLS, by the upstream of TLS
	}
	says := func(a answer) (*call, *answer) { return nil, &a }
	if at.secure && h.websocket() {
		return says(p.badAnswer(by, h, malformed("a websocket over TLS: use CONNECT")))
	}
	if g.into != nil {
		by = g.into.by
	} else if refused := p.checkSecret(by, h, at.authority); refused != nil {
		return says(refused.of(h.accept))
	}
	if location, ok := p.ownServer(h, by, at); ok && g.into == nil {
		return says(p.elsewhere(location))
	}
	c, refused := p.callInside(g, judge.Call{By: by, Host: at.host, Port: at.port})
	if refused != nil {
		return says(refused.of(h.accept))
	}
	if g.into == nil {
		if refused := c.heldTo(at); refused != nil {
			p.tell(refused)
			c.over(refused.Reason, refused.Detail)
			return says(refused.of(h.accept))
		}
	}
	c.secure = at.secure
	return c, nil
}

// forward carries one plain request to its host and the answer back.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request, g *gate, h *head, at target) {
	c, no := p.admitPlain(g, h, at)
	if no != nil {
		no.write(w, h)
		drain(w, r)
		return
	}
	if h.websocket() {
		p.upgrade(w, r, g, h, at, c)
		return
	}
	counted := &counter{call: c}
	defer counted.done()
	client, head := p.client(c), stripHop
	forwarded := client == p.forwarding
	var echo *redact.Redactor
	if forwarded {
		if c.upstream().repeats(r.Method) {
			wrong := bad(http.StatusMethodNotAllowed, "a "+r.Method+", which an upstream proxy answers with all that it was sent")
			counted.failed(wrong.why)
			p.badAnswer(c.by, h, wrong).write(w, h)
			drain(w, r)
			return
		}
		if echo = p.echo(c.upstream()); echo != nil {
			head = func(h http.Header) { stripHop(h); headWithoutEcho(echo, h) }
		}
	}
	out := c.request(r, h, at)
	setPath(out.URL, out.Method, h.path, forwarded)
	var body *sent
	if out.Body != http.NoBody {
		body = &sent{body: out.Body, count: &counted.up, length: out.ContentLength}
		out.Body, out.GetBody = body, body.again
	}
	early := NewInterim(w, r, head)
	got, err := client.ask(context.WithValue(r.Context(), callKey{}, c), out, early)
	early.End()
	instead := func(a answer, detail string) {
		counted.failed(detail)
		a.last = a.last || !body.all()
		a.write(w, h)
		drain(w, r)
	}
	if err != nil {
		if body.malformed() {
			wrong := malformed("a chunked body that is not one")
			instead(p.badAnswer(c.by, h, wrong), wrong.why)
			return
		}
		if r.Context().Err() != nil {
			counted.failed(wordsLeft)
			panic(http.ErrAbortHandler)
		}
		f := unanswered(err, got.connected)
		instead(p.answerTo(f), f.detail)
		return
	}
	resp := got.resp
	defer resp.Body.Close()
	if said := c.noAnswer(forwarded, resp); said != "" {
		instead(p.failed(said), said)
		return
	}
	if echo != nil {
		withoutEcho(echo, resp)
	}
	counted.last = counted.last || !body.all()
	counted.answered = got
	g.says.Store(statusOf(resp))
	if !counted.answer(w, r.Method, r.Context().Err) {
		panic(http.ErrAbortHandler)
	}
	drain(w, r)
}

// callInside admits a call as call does. What is in a tunnel that was counted
// as a call is not counted twice.
func (p *Proxy) callInside(g *gate, asked judge.Call) (*call, *Refusal) {
	if g.into != nil {
		if c := g.into.warm.Swap(nil); c != nil {
			return c, nil
		}
	}
	return p.call(asked)
}

// takeWarm gives the connection that a tunnel was opened on, once.
func (c *call) takeWarm() net.Conn {
	if far := c.warm.Swap(nil); far != nil {
		return *far
	}
	return nil
}

// request makes the request that goes on: to the call's host in normal form,
// without what is for this hop only (RFC 9110 section 7.6.1), and with no word
// of the proxy's own.
func (c *call) request(r *http.Request, h *head, at target) *http.Request {
	host := c.decision.Host
	out := &http.Request{
		Method: r.Method,
		URL:    &url.URL{Scheme: "http", Host: hostPort(host, c.decision.Port, usualPort(at.secure))},
		Host:   cmp.Or(at.says, hostPort(host, c.decision.Port, usualPort(at.secure))),
		Header: r.Header.Clone(), Body: r.Body, ContentLength: r.ContentLength,
		Trailer: r.Trailer, // filled when the body has been read
		// An origin that answers without wanting the body must not be sent it,
		// as net/http does to keep the connection.
		Close: r.Header.Get("Expect") != "",
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if at.secure {
		out.URL.Scheme = "https"
	}
	if r.ContentLength == 0 {
		out.Body = http.NoBody
	}
	stripHop(out.Header)
	h.spelling().on(out.Header)
	if _, ok := out.Header["User-Agent"]; !ok {
		out.Header["User-Agent"] = nil // none, and not Go's
	}
	return out
}

// hopHeaders are for one hop whether Connection names them or not.
var hopHeaders = []string{
	"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization",
	"Proxy-Authentication-Info", "Te", "Transfer-Encoding", "Upgrade", "Http2-Settings",
}

// notForOthers are names as http.Header has them of what is for one hop, and of
// what only the proxy may say.
var notForOthers = append([]string{refusedHeader}, hopHeaders...)

// stripHop takes out what is for one hop, and what only the proxy may say.
// Every Connection is read: an empty first one hides the others from
// Header.Get.
func stripHop(h http.Header) {
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range notForOthers {
		delete(h, name)
	}
}

// stripTrailer takes out of a trailer what stripHop does, and what no trailer can
// say (RFC 9110 section 6.5.1): how long the body is, and what is in the trailer.
func stripTrailer(h http.Header) {
	stripHop(h)
	for _, name := range ofBody {
		delete(h, name)
	}
}

// counter counts a plain request's bytes for its record. The connection, which
// other requests share, counts them for the proxy.
type counter struct {
	call     *call
	up, down countBytes
	why      judge.Reason
	detail   string
	last     bool // no other request may follow on the connection
	answered
}

// An answered is what a host has answered.
type answered struct {
	resp      *http.Response
	connected bool // the host was reached, also where there is no answer
	more      bool // something of the body has come with the answer's head
	names     spelling
	hop       []string // what the answer's Connection names
}

func (c *counter) done() {
	if warm := c.call.takeWarm(); warm != nil {
		warm.Close() // a kept connection was used instead
	}
	c.call.meter = meterOf(c.up.n.Load(), c.down.n.Load())
	c.call.over(c.why, c.detail)
}

// failed notes that the request came to nothing, and why, for its record.
func (c *counter) failed(detail string) { c.why, c.detail = Failed, detail }

// answer passes the answer on as it comes. It is false where it could not be
// passed on whole, which must not look so; left says whether the program is why.
func (c *counter) answer(w http.ResponseWriter, method string, left func() error) bool {
	resp := c.resp
	for _, name := range c.hop {
		resp.Header.Del(name)
	}
	stripHop(resp.Header)
	c.names.on(resp.Header)
	h := w.Header()
	clear(h)
	maps.Copy(h, resp.Header)
	if c.last {
		h.Set("Connection", "close")
	}
	bounded := resp.ContentLength >= 0
	if !bounded && resp.Trailer == nil {
		delete(h, "Trailer") // of an answer that could have none, and is in chunks from here on
	}
	stripTrailer(resp.Trailer)
	announced := make(map[string]bool, len(resp.Trailer))
	for name := range resp.Trailer {
		announced[name] = true
		h.Add("Trailer", name)
	}
	if _, ok := h["Date"]; !ok {
		h["Date"] = nil // none, and not ours
	}
	if _, ok := h["Content-Type"]; !ok {
		h["Content-Type"] = nil // not guessed from the body
	}
	w.WriteHeader(resp.StatusCode)
	rc := http.NewResponseController(w)
	// A head must not wait for a body that is still to come. One that has come
	// goes with it, in one segment; so does what is whole, by the server.
	if method != http.MethodHead && !(bounded && (c.more || resp.Body == http.NoBody)) {
		if rc.Flush() != nil {
			return false
		}
	}
	buf := copyBuffers.Get().(*[]byte)
	defer copyBuffers.Put(buf)
	for {
		n, err := resp.Body.Read(*buf)
		if n > 0 {
			c.down.n.Add(uint64(n))
			if _, werr := w.Write((*buf)[:n]); werr != nil {
				return false
			}
		}
		// Each piece goes as it comes: events must not wait for the next. Where it
		// does not, nobody is there for the next either.
		if (!bounded || !errors.Is(err, io.EOF)) && rc.Flush() != nil {
			return false
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if left() == nil && c.call.proxy.ctx.Err() == nil && !errors.Is(err, net.ErrClosed) {
				c.failed(wordsHalf) // and neither the program nor the proxy did
			}
			return false
		}
	}
	stripTrailer(resp.Trailer) // those too that were not announced
	for name, values := range resp.Trailer {
		if !announced[name] {
			name = http.TrailerPrefix + name
		}
		h[name] = values
	}
	return true
}
