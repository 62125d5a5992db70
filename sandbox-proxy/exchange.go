package proxy

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Most plain requests have no body, and their host is asked directly. Those are
// answered on the goroutine that has read them, one after another; what else may
// come on a connection is net/http's, which costs twice as much, most of it for
// goroutines that wait for each other.

// An exchange is such a request, and its answer.
type exchange struct {
	asking
	to      *reply
	counted counter

	mu   sync.Mutex
	over bool
	end  chan struct{} // closed with it, where its program is watched
	seen chan struct{} // closed when its program is not looked at anymore
}

// exchange answers a request whose head was read, if it is one of those: done is
// false where it is for net/http's server. more says whether another may follow
// on the connection.
func (p *Proxy) exchange(g *gate, h *head) (done, more bool) {
	if p.forwarding != nil || g.own || !h.alone() || g.into == nil && h.target[0] == '/' {
		return false, false
	}
	if g.into == nil {
		if _, local := p.local(h.target); local {
			return false, false
		}
	}
	h.into = g.into
	at, wrong := p.requestTarget(h, g.into)
	if wrong != nil {
		return false, false
	}
	g.r, g.give = g.r+g.give, 0
	w := &reply{gate: g, head: h}
	c, no := p.admitPlain(g, h, at)
	if no != nil {
		no.write(w, h)
		return true, p.finish(w)
	}
	x := &exchange{to: w}
	x.counted.call = c
	whole := x.carry(at)
	x.counted.done()
	if !whole {
		w.Flush() // what has come, and no end of it
		return true, false
	}
	return true, p.finish(w)
}

// alone says whether a request is one without a body that can be sent again.
func (h *head) alone() bool {
	return h.bad == nil && h.minor == 1 && sentAgain(h.method) && h.length <= 0 && !h.chunked && !h.expects && !h.websocket()
}

// carry asks the host, and writes its answer, or another in place of it. It is
// false where the answer is not whole.
func (x *exchange) carry(at target) (whole bool) {
	c, w := x.counted.call, x.to
	host := hostPort(c.decision.Host, c.decision.Port, usualPort(at.secure))
	q := &question{call: c, to: origination{host, at.secure}, method: w.head.method, head: w.head.onward(cmp.Or(at.says, host)), interim: x.interim}
	watch := time.AfterFunc(quickly, x.watch)
	defer func() {
		if !watch.Stop() {
			x.unwatch()
		}
	}()
	got, err := c.proxy.kept.question(&x.asking, q)
	if err != nil {
		if x.gone() != nil || w.err != nil {
			x.counted.failed(wordsLeft)
			return false
		}
		f := unanswered(err, got.connected)
		x.counted.failed(f.detail)
		c.proxy.answerTo(f).write(w, w.head)
		return true
	}
	defer got.resp.Body.Close()
	if said := c.noAnswer(false, got.resp); said != "" {
		x.counted.failed(said)
		c.proxy.failed(said).write(w, w.head)
		return true
	}
	x.counted.answered = got
	w.phrase = statusOf(got.resp)
	return x.counted.answer(w, w.head.method, x.gone)
}

// interim passes on an answer before the answer. A 100 is for a body, and there
// is none.
func (x *exchange) interim(status int, h http.Header) error {
	if status == http.StatusContinue {
		return nil
	}
	stripHop(h)
	for _, name := range ofBody {
		delete(h, name)
	}
	x.to.header = h
	x.to.WriteHeader(status)
	x.to.header = nil
	return x.to.err
}

// finish sends what is left of an answer, which its program may never read, and
// says whether another request may follow. The connection counts among those that
// wait.
func (p *Proxy) finish(w *reply) (more bool) {
	p.wait(w.gate)
	defer w.gate.arrived()
	if w.end() {
		return true
	}
	if w.err == nil {
		w.gate.linger()
	}
	return false
}

// onward is the head that goes on to the host: what is not for this hop (RFC 9110
// section 7.6.1), as it came.
func (h *head) onward(host string) []byte {
	path := h.path
	switch {
	case path == "" && h.method == http.MethodOptions:
		path = wholeServer
	case path == "" || path[0] == '?':
		path = "/" + path
	}
	var named []string // by Connection
	for _, f := range h.fields {
		if strings.EqualFold(f.name, "Connection") {
			for name := range strings.SplitSeq(f.value, ",") {
				named = append(named, strings.TrimSpace(name))
			}
		}
	}
	var b bytes.Buffer
	b.Grow(h.size + len(host))
	b.WriteString(h.method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\n")
	for _, f := range h.fields {
		is := func(name string) bool { return strings.EqualFold(name, f.name) }
		if slices.ContainsFunc(notOnward, is) || slices.ContainsFunc(named, is) {
			continue
		}
		b.WriteString(f.name + ": " + f.value + "\r\n")
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

// notOnward are fields that are for one hop, that only the proxy may say, that it
// says itself, or that are about a body, of which there is none.
var notOnward = append(append([]string{"Host"}, ofBody...), notForOthers...)

// ofBody are fields about a body, of what has none.
var ofBody = []string{"Content-Length", "Trailer"}

// gone is not nil where the program has left.
func (x *exchange) gone() error {
	x.asking.mu.Lock()
	defer x.asking.mu.Unlock()
	if x.left {
		return errLeft
	}
	return nil
}

// watch looks whether the program leaves while it is answered: then the request
// ends. One that only ends its side may still read, for as long as the answer
// moves. What else comes is the next request, which is read later.
func (x *exchange) watch() {
	g := x.to.gate
	x.mu.Lock()
	if x.over {
		x.mu.Unlock()
		return
	}
	x.end, x.seen = make(chan struct{}), make(chan struct{})
	g.Conn.SetReadDeadline(time.Time{})
	x.mu.Unlock()
	defer close(x.seen)
	if g.r < g.w {
		return
	}
	err := g.fill()
	if err == io.EOF {
		g.moved()
		for left := g.drains(); left > 0; left = g.drains() {
			select {
			case <-x.end:
				return
			case <-time.After(left):
			}
		}
	}
	x.mu.Lock()
	left := err != nil && !x.over
	x.mu.Unlock()
	if left {
		x.leave()
	}
}

// unwatch ends watch.
func (x *exchange) unwatch() {
	x.mu.Lock()
	x.over = true
	seen := x.seen
	if seen != nil {
		close(x.end)
		x.to.gate.Conn.SetReadDeadline(time.Unix(1, 0))
	}
	x.mu.Unlock()
	if seen != nil {
		<-seen
	}
}
