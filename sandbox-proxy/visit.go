package proxy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tunnel"
)

// Visit lets a request to the proxy itself in, to the route of that name, or
// answers it with the refusal. What serve does in it is a call like any other:
// it waits in a pause, is cut by a stop, has one of the places for open calls,
// counts for per_minute, its bytes are counted, and it is told of when it is
// over. The request's context ends with all of that, and serve must end then.
//
// It is for [Config].Local, with the writer and the request it was given.
func (p *Proxy) Visit(w http.ResponseWriter, r *http.Request, name string, serve http.Handler) {
	h, _ := r.Context().Value(headKey{}).(*head)
	if h == nil {
		h = &head{}
	}
	d := judge.Decision{Allowed: true, Host: name}
	open := p.dialContext() // from before the wire is looked at
	refused := p.admitRule(judge.ByRoute, d)
	var end func()
	if refused == nil {
		end, refused = p.begin(judge.ByRoute, d)
	}
	if refused != nil {
		p.tell(refused)
		aheadOfBody(w, r)
		refused.of(r.Header["Accept"]).write(w, h)
		drain(w, r)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	v := &visit{proxy: p, open: open, cancel: cancel, meter: tunnel.NewMeter(&p.meter), decision: d, gate: gateOf(r)}
	defer v.over(time.Now(), end)
	if !p.add(v) {
		panic(http.ErrAbortHandler)
	}
	defer p.drop(v)
	r = r.WithContext(context.WithValue(ctx, visitKey{}, v))
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &visitBody{r.Body, v}
	}
	p.meter.Add(h.size, 0) // as of a plain request, whose connection is counted
	out := &visitWriter{ResponseWriter: w, visit: v, gate: v.gate, head: h}
	serve.ServeHTTP(out, r)
	out.countTrailers()
}

type (
	headKey  struct{}
	visitKey struct{}
)

// A visit is a request to the proxy itself that was let in.
type visit struct {
	proxy    *Proxy
	open     context.Context // ends with a stop
	gate     *gate           // nil where there is none
	cancel   func()
	meter    *tunnel.Meter
	decision judge.Decision
	failed   atomic.Pointer[judge.Decision] // why what it asked for was refused
	went     atomic.Pointer[judge.Decision] // where it went, if to a host
	outcome  atomic.Pointer[outcome]
}

// An outcome is what the route itself says of a visit.
type outcome struct{ text, refused string }

// Outcome notes, for the [Record] of the visit that a request is, how what it
// asked for ended; refused is why it was not done, where it was not. It holds
// nothing that is not to be in a log.
func Outcome(ctx context.Context, text, refused string) {
	if v, _ := ctx.Value(visitKey{}).(*visit); v != nil {
		v.outcome.Store(&outcome{text, refused})
	}
}

// Attended ends the visit that a request is as soon as its caller has closed
// its side of the connection. Any other goes on while its answer moves: a client
// may say that it asks for no more.
func Attended(ctx context.Context) {
	if v, _ := ctx.Value(visitKey{}).(*visit); v != nil && v.gate != nil {
		v.gate.attend()
	}
}

// Cut ends it at once; the program's connection is cut by itself.
func (v *visit) Cut() { v.cancel() }

func (v *visit) over(began time.Time, end func()) {
	end()
	if v.proxy.config.Ended == nil {
		return
	}
	r := Record{
		At: began, By: judge.ByRoute, Route: v.decision.Host, Allowed: true,
		Up: v.meter.Up(), Down: v.meter.Down(), Took: time.Since(began),
	}
	if d := v.went.Load(); d != nil {
		r.Host, r.Port = d.Host, d.Port
	}
	if d := v.failed.Load(); d != nil {
		r.Host, r.Port, r.Reason, r.Detail, r.Address = d.Host, d.Port, d.Reason, d.Detail, d.Refused
		r.Allowed = d.Reason == Failed
	}
	if o := v.outcome.Load(); o != nil {
		r.Outcome = judge.Shown(o.text)
		if o.refused != "" {
			r.Allowed, r.Reason, r.Detail = false, Declined, judge.Shown(o.refused)
		}
	}
	r.cut(v.proxy, v.open)
	v.proxy.config.Ended(r)
}

// wait stands still in a pause.
func (v *visit) wait() error {
	if !v.proxy.valve.Wait(v.proxy.ctx.Done()) {
		return net.ErrClosed
	}
	return nil
}

// A visitBody is what the program sends in a visit.
type visitBody struct {
	io.ReadCloser
	visit *visit
}

func (b *visitBody) Read(p []byte) (int, error) {
	if err := b.visit.wait(); err != nil {
		return 0, err
	}
	n, err := b.ReadCloser.Read(p)
	b.visit.meter.Add(n, 0)
	return n, err
}

// A visitWriter is the way back to the program.
type visitWriter struct {
	http.ResponseWriter
	visit *visit
	gate  *gate
	head  *head
	said  bool // the head of the answer
	taken bool // the connection is another's
}

// Unwrap gives http.ResponseController the rest.
func (w *visitWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush sends what is written.
func (w *visitWriter) Flush() { http.NewResponseController(w.ResponseWriter).Flush() }

// WriteHeader ends the connection where nothing behind the request was let
// through to the server.
func (w *visitWriter) WriteHeader(status int) {
	if status >= 200 && w.head.takesOver() {
		w.Header().Set("Connection", "close")
	}
	w.countHead(status)
	w.ResponseWriter.WriteHeader(status)
}

// countHead counts a head that is about to be sent, an interim one too: what a
// host has to say may all be there.
func (w *visitWriter) countHead(status int) {
	if w.said {
		return
	}
	w.said = status >= 200
	w.visit.proxy.meter.Add(0, len("HTTP/1.1 200 \r\n\r\n")+len(http.StatusText(status))+fieldBytes(w.Header()))
}

// countTrailers counts what is sent behind the body.
func (w *visitWriter) countTrailers() {
	if w.taken {
		return
	}
	trailers := http.Header{}
	for name, values := range w.Header() {
		if plain, is := strings.CutPrefix(name, http.TrailerPrefix); is || slices.Contains(w.Header()["Trailer"], name) {
			trailers[plain] = values
		}
	}
	w.visit.proxy.meter.Add(0, fieldBytes(trailers))
}

// fieldBytes is how long header fields are as they are sent.
func fieldBytes(h http.Header) int {
	all := &tally{Writer: io.Discard}
	h.Write(all)
	return all.n
}

func (w *visitWriter) Write(p []byte) (int, error) {
	if err := w.visit.wait(); err != nil {
		return 0, err
	}
	w.countHead(http.StatusOK)
	n, err := w.ResponseWriter.Write(p)
	w.visit.meter.Add(0, n)
	return n, err
}

// Hijack takes the connection over, of a request that asks for an upgrade
// only: of any other the connection may hold the next request.
func (w *visitWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if w.gate == nil || !w.head.takesOver() {
		return nil, nil, errors.New("only a request that asks for an upgrade can be taken over")
	}
	if !w.gate.takeOver(w.ResponseWriter) {
		return nil, nil, errors.New("the connection could not be taken over")
	}
	w.taken = true
	w.gate.Conn.SetDeadline(time.Time{})
	c := &visitConn{Conn: w.gate.Conn, gate: w.gate, early: w.gate.unread(), visit: w.visit}
	return c, bufio.NewReadWriter(bufio.NewReader(c), bufio.NewWriter(c)), nil
}

// A visitConn is the program's connection, taken over.
type visitConn struct {
	net.Conn
	gate  *gate
	early []byte
	visit *visit
}

func (c *visitConn) Read(p []byte) (n int, err error) {
	if err := c.visit.wait(); err != nil {
		return 0, err
	}
	if len(c.early) > 0 {
		n = copy(p, c.early)
		c.early = c.early[n:]
	} else {
		n, err = c.Conn.Read(p)
	}
	c.visit.meter.Add(n, 0)
	return n, err
}

func (c *visitConn) Write(p []byte) (int, error) {
	if err := c.visit.wait(); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(p)
	c.visit.meter.Add(0, n)
	return n, err
}

// Close ends the connection.
func (c *visitConn) Close() error { return c.gate.Close() }

// CloseWrite ends what is said to the program.
func (c *visitConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}
