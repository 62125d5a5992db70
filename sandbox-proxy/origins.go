package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

var errDropped = errors.New("the proxy has no call for this connection: this is a bug of the proxy")

// newOrigins makes a client of plain requests: it changes nothing that it
// carries, waits for no answer in particular, and dials by dial alone.
func newOrigins(idle int, dial func(ctx context.Context, network, addr string) (net.Conn, error)) *http.Transport {
	t := &http.Transport{
		DialContext:            dial,
		DisableCompression:     true,
		MaxIdleConns:           idle,
		MaxIdleConnsPerHost:    idleOrigins,
		IdleConnTimeout:        idleOriginTime,
		ExpectContinueTimeout:  expectTime,
		MaxResponseHeaderBytes: maxHeadBytes,
		Protocols:              new(http.Protocols),
	}
	t.Protocols.SetHTTP1(true)
	return t
}

// A client asks hosts, or an upstream, in two ways.
type client struct {
	// kept goes on connections that are kept for the next request, fresh on one
	// that is opened for the request and ends with it.
	kept  asker
	fresh transport
}

// An asker sends a request, whose call is in the context, and passes on what
// comes before the answer.
type asker interface {
	ask(ctx context.Context, r *http.Request, early *Interim) (answered, error)
}

// A transport asks by net/http's client.
type transport struct{ *http.Transport }

// sentAgain says whether a request may be sent once more. The far side may close
// a kept connection just as something is sent on it, and some do so right behind
// an answer that says nothing of it. What was sent is then sent again where that
// can be (RFC 9110 section 9.2.2, RFC 9112 section 9.3.1). What cannot be goes on
// no such connection: the program, whose own connection is another, would be told
// that the host had failed it.
func sentAgain(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}

func (c *client) ask(ctx context.Context, r *http.Request, early *Interim) (answered, error) {
	if r.Body == http.NoBody && sentAgain(r.Method) {
		return c.kept.ask(ctx, r, early)
	}
	return c.fresh.ask(ctx, r, early)
}

func (t transport) ask(ctx context.Context, r *http.Request, early *Interim) (got answered, err error) {
	var from *origin
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		// Where a kept connection turns out to be closed it is asked for again.
		GetConn: func(string) { got.connected = false },
		GotConn: func(on httptrace.GotConnInfo) {
			got.connected = true
			if from, _ = on.Conn.(*origin); from != nil {
				from.anew()
			}
		},
		Got1xxResponse: early.got,
	})
	got.resp, err = t.RoundTrip(r.WithContext(ctx))
	if err == nil && from != nil {
		got.more = from.more()
		got.names, got.hop = from.answered.read()
	}
	return got, err
}

// callKey is the call in the context of a request to an origin.
type callKey struct{}

// dialling is the context of a dial that net/http has asked for. Its own, ctx,
// outlives the request, whose connection another may use: here it also ends with
// open, which a stop ends before anything that waits goes on.
func dialling(open, ctx context.Context) (context.Context, func()) {
	both, cancel := context.WithCancel(open)
	stop := context.AfterFunc(ctx, cancel)
	return both, func() {
		stop()
		cancel()
	}
}

// onCall has net/http's client connect by dial, for the call in the context that
// it gives.
func onCall(dial func(context.Context, *call) (*origin, error)) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, ok := ctx.Value(callKey{}).(*call)
		if !ok {
			return nil, errDropped
		}
		ctx, done := dialling(c.ctx, ctx)
		defer done()
		o, err := dial(ctx, c)
		if err != nil {
			return nil, err
		}
		return o, nil
	}
}

// dialOrigin connects to the addresses of a call.
func (p *Proxy) dialOrigin(ctx context.Context, c *call) (*origin, error) {
	if warm := c.takeWarm(); warm != nil {
		// A host may have closed it, or may have said so, while nothing was asked.
		if quiet(warm) {
			return p.share(warm)
		}
		warm.Close()
	}
	far, early, err := p.dialOut(ctx, c.by, c.decision)
	if err != nil {
		return nil, err
	}
	if len(early) > 0 {
		far.Close() // HTTP's server does not speak first
		return nil, errEarly
	}
	return p.share(far)
}

// dialForwarding connects to the upstream for requests that it forwards.
func (p *Proxy) dialForwarding(ctx context.Context, c *call) (*origin, error) {
	far, err := p.dialUpstream(ctx, c.upstream())
	if err != nil {
		return nil, err
	}
	return p.share(far)
}

// share makes a connection one that plain requests share.
func (p *Proxy) share(far net.Conn) (*origin, error) {
	o := newOrigin(p, far)
	if !p.add(o) {
		return nil, net.ErrClosed
	}
	return o, nil
}

// client gives the client for a request: the one that has the upstream forward
// it, or the one that asks the host, directly or through a tunnel. A request
// that came in a tunnel stays in one.
func (p *Proxy) client(c *call) *client {
	if p.forwarding == nil || !c.upstream().forwards() || c.by == judge.ByConnect || c.by == judge.BySOCKS {
		return &p.origins
	}
	if len(c.decision.Addrs) > 0 && c.decision.Addrs[0].Addr().IsLoopback() {
		return &p.origins
	}
	return p.forwarding
}

var errEarly = errors.New("an answer before the request")

// origin is a connection to an origin that plain requests share. It counts
// what it carries, and stands still in a pause.
type origin struct {
	net.Conn
	proxy *Proxy
	// uncounted is one of a route's: its bytes are counted on the program's side.
	uncounted bool
	once      sync.Once
	gone      chan struct{} // closed with it
	// said is whether something of a request was sent, deaf whether the far
	// side takes no more of it.
	said, deaf atomic.Bool
	// blank is whether what was read last ends as a head does.
	blank atomic.Bool
	// answered is the head of the answer as it came.
	answered answerHead
}

func newOrigin(p *Proxy, far net.Conn) *origin {
	return &origin{Conn: far, proxy: p, gone: make(chan struct{})}
}

// moves waits for the end of a pause. It is false where the connection was closed
// in it: who has left is not held.
func (o *origin) moves() bool { return o.proxy.valve.Wait(o.gone) }

// anew notes that the next request begins.
func (o *origin) anew() {
	o.said.Store(false)
	o.answered.begin()
}

// more says whether something was read behind a head that has been read: a
// head's own end is an empty line. It may say no where there was.
func (o *origin) more() bool { return !o.blank.Load() }

// endsBlank says whether b may end with an empty line, of which net/http takes
// one without the CR too, and of which a part may have been read before.
func endsBlank(b []byte) bool {
	if len(b) < len("\n\r\n") {
		return len(b) > 0 && b[len(b)-1] == '\n'
	}
	return bytes.HasSuffix(b, []byte("\n\r\n")) || bytes.HasSuffix(b, []byte("\n\n"))
}

func (o *origin) Read(b []byte) (int, error) {
	n, err := o.answered.from(o.Conn, b)
	if n > 0 {
		o.blank.Store(endsBlank(b[:n]))
	}
	if !o.uncounted {
		o.proxy.meter.Add(0, n)
	}
	if !o.moves() {
		return n, net.ErrClosed
	}
	return n, err
}

// Write sends a request. A host that answers early and hangs up (413, 401)
// makes the rest of the body fail to be sent; net/http would give that error in
// place of the answer, which has come. So the rest goes nowhere, and what the
// host said, or that it said nothing, is found by reading.
func (o *origin) Write(b []byte) (int, error) {
	if !o.moves() {
		return 0, net.ErrClosed
	}
	if o.deaf.Load() {
		return len(b), nil
	}
	n, err := o.Conn.Write(b)
	if !o.uncounted {
		o.proxy.meter.Add(n, 0)
	}
	if err != nil && (n > 0 || o.said.Load()) && (errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)) {
		o.deaf.Store(true)
		return len(b), nil
	}
	if n > 0 {
		o.said.Store(true)
	}
	return n, err
}

func (o *origin) Close() error {
	o.once.Do(func() {
		close(o.gone)
		o.proxy.drop(o)
	})
	return o.Conn.Close()
}

// Cut ends the connection with a reset.
func (o *origin) Cut() {
	c := o.Conn
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn() // TLS would say goodbye first, and wait for that
	}
	reset(c)
	o.Close()
}

// CloseWrite ends what is said to the far side, where that can be.
func (o *origin) CloseWrite() error {
	if half, ok := o.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}
