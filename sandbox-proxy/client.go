package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// A Client asks hosts for what a route's bridge wants of them. It is an
// http.RoundTripper: each request is put to the judge as a call by a route,
// also on a connection that is kept; a name is resolved, and its addresses
// judged, when a connection is made; only those are dialled, by the upstream
// where there is one; and https is held to the host's certificate.
//
// It speaks HTTP/1.1, changes nothing that it carries, follows no redirect and
// has no cookies. An answer that switches protocols has a body to write to
// (net/http).
type Client struct {
	proxy     *Proxy
	transport *http.Transport
}

// NewClient makes a client for the bridges of this proxy; config is for TLS
// and may be nil, for the system's roots.
func (p *Proxy) NewClient(config *tls.Config) *Client {
	c := &Client{proxy: p, transport: newOrigins(p.room.idle, nil)}
	c.transport.DialContext = c.dial
	c.transport.TLSHandshakeTimeout = helloTime
	if config == nil {
		config = &tls.Config{}
	}
	config = config.Clone()
	if config.MinVersion == 0 {
		config.MinVersion = tls.VersionTLS12
	}
	if config.ClientSessionCache == nil {
		config.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	}
	c.transport.TLSClientConfig = config
	return c
}

// RoundTrip asks. The request's context must be that of a [Proxy.Visit]. A
// refusal is a [*Refusal]; any other error may hold what the program must not
// be told: see [Proxy.Answer].
func (c *Client) RoundTrip(r *http.Request) (*http.Response, error) {
	v, ok := r.Context().Value(visitKey{}).(*visit)
	if !ok {
		return nil, errors.New("a request of no visit: this is a bug of the bridge")
	}
	call, err := routeCall(r)
	if err != nil {
		return nil, err
	}
	d := c.proxy.config.Judge.Rule(call)
	if !d.Allowed {
		v.failed.Store(&d)
		return nil, c.proxy.refusal(judge.ByRoute, d)
	}
	call.Onward = c.proxy.config.Upstream.of(call.By, d.Host, d.Port).set()
	v.went.Store(&d)
	out := r.WithContext(context.WithValue(r.Context(), routeKey{}, call))
	if out.Body != nil && out.Body != http.NoBody {
		body := &sent{body: out.Body, count: new(countBytes)}
		out.Body, out.GetBody = body, body.again
	}
	resp, err := c.transport.RoundTrip(out)
	if err != nil {
		v.failed.Store(failed(d, err))
	}
	return resp, err
}

type routeKey struct{}

// failed is what becomes of a call that came to nothing, for its record.
func failed(d judge.Decision, err error) *judge.Decision {
	d.Reason, d.Detail = Failed, failureOf(err).detail
	var refused *Refusal
	if errors.As(err, &refused) {
		d.Allowed, d.Reason, d.Detail, d.Refused = false, refused.Reason, refused.Detail, refused.Address
	}
	return &d
}

func routeCall(r *http.Request) (judge.Call, error) {
	port := map[string]uint16{"http": 80, "https": 443}[r.URL.Scheme]
	if s := r.URL.Port(); s != "" {
		var err error
		if port, err = judge.ParsePort(s); err != nil {
			return judge.Call{}, err
		}
	}
	host := r.URL.Hostname()
	if net.ParseIP(host).To4() == nil && net.ParseIP(host) != nil {
		host = "[" + host + "]"
	}
	return judge.Call{By: judge.ByRoute, Host: host, Port: port}, nil
}

func (c *Client) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	call, ok := ctx.Value(routeKey{}).(judge.Call)
	v, visited := ctx.Value(visitKey{}).(*visit)
	if !ok || !visited {
		return nil, errDropped
	}
	ctx, done := dialling(v.open, ctx)
	defer done()
	d := c.proxy.config.Judge.Judge(ctx, call)
	if d.Allowed && c.proxy.self(d.Addrs) {
		return nil, c.proxy.refuse(judge.ByRoute, d, Self, "this is the proxy itself")
	}
	if !d.Allowed {
		return nil, c.proxy.refusal(judge.ByRoute, d)
	}
	far, early, err := c.proxy.dialOut(ctx, judge.ByRoute, d)
	if err != nil {
		return nil, err
	}
	if len(early) > 0 {
		far.Close()
		return nil, errEarly
	}
	return c.proxy.Hold(far)
}

// Close closes the connections that are kept.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Hold makes a connection of a bridge's own one that stands still in a pause
// and is cut by a stop, and with the proxy. It closes one that comes too late.
func (p *Proxy) Hold(far net.Conn) (net.Conn, error) {
	o := newOrigin(p, far)
	o.uncounted = true
	if !p.add(o) {
		return nil, net.ErrClosed
	}
	return o, nil
}

// StripHop takes out of a head what is for one hop only (RFC 9110 section
// 7.6.1), and what only the proxy may say.
func StripHop(h http.Header) { stripHop(h) }

// Answer answers a visit that came to nothing, in fixed words: the program
// must not be able to map the network, and an error may hold a secret.
func (p *Proxy) Answer(w http.ResponseWriter, r *http.Request, err error) {
	h, _ := r.Context().Value(headKey{}).(*head)
	if h == nil {
		h = &head{}
	}
	var refused *Refusal
	if errors.As(err, &refused) {
		p.show(refused) // the visit's own record says it too
		refused.of(r.Header["Accept"]).write(w, h)
		return
	}
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
	p.cameToNothing(err).write(w, h)
}

// Refuse answers a visit with a refusal of the bridge's own, told as any
// other is; reason is one word and detail one line, with nothing in it that
// the program must not have.
func (p *Proxy) Refuse(w http.ResponseWriter, r *http.Request, reason judge.Reason, detail string) {
	d := judge.Decision{}
	if v, ok := r.Context().Value(visitKey{}).(*visit); ok {
		d = v.decision
		failed := d
		failed.Reason, failed.Detail = reason, detail
		v.failed.Store(&failed)
	}
	p.Answer(w, r, p.refuse(judge.ByRoute, d, reason, detail))
}

// Missing answers a request to the proxy itself that names nothing it has.
// Every such answer is the same.
func (p *Proxy) Missing(w http.ResponseWriter, r *http.Request) {
	h, _ := r.Context().Value(headKey{}).(*head)
	if h == nil {
		h = &head{}
	}
	aheadOfBody(w, r)
	plainAnswer(http.StatusNotFound, "lnk sandbox "+p.config.Sandbox+": there is nothing here").write(w, h)
	drain(w, r)
}
