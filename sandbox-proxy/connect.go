package proxy

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tunnel"
)

// established is the answer to a CONNECT: HTTP/1.1 whatever was asked in,
// since some clients throw a tunnel away that is not, and no framing (RFC 9110
// section 9.3.6).
const established = "HTTP/1.1 200 Connection established\r\n\r\n"

// say says what makes the connection another's, in bounded time. No clock of the
// proxy's runs over what is said on it after that.
func (g *gate) say(text string) error {
	g.SetDeadline(time.Now().Add(headTime))
	_, err := io.WriteString(g.Conn, text)
	g.SetDeadline(time.Time{})
	return err
}

// serveConnect answers a CONNECT whose head was read. It owns the connection.
func (p *Proxy) serveConnect(g *gate, h *head) {
	to, wrong := connectTarget(h)
	if wrong != nil {
		p.sendBad(g, judge.ByConnect, h, wrong)
		return
	}
	if r := p.checkSecret(judge.ByConnect, h, to); r != nil {
		r.of(h.accept).send(g)
		return
	}
	if p.itself(to) {
		p.serveItself(g)
		return
	}
	c, r := p.call(judge.Call{By: judge.ByConnect, Host: to.host, Port: to.port})
	if r != nil {
		r.of(h.accept).send(g)
		return
	}
	if err := c.connect(); err != nil {
		f := failureOf(err)
		c.failed(f.detail) // at once: a last answer may linger
		p.answerTo(f).send(g)
		return
	}
	if err := g.say(established); err != nil {
		g.Close()
		c.failed(wordsLeft)
		return
	}
	p.carry(g, c)
}

// connectTarget reads a CONNECT's target: exactly host:port, and a Host that
// says nothing else. A client must send the target's own (RFC 9112 section 3.2),
// so one that differs is refused as malformed before anything is dialled: who
// reads the Host and who reads the target would not agree on where the call
// goes. Clients of npm's tunnel-agent send the proxy's own address, by which
// they know it: that names nowhere else to go, and is passed over. Nothing is
// judged by a Host, and none is passed on.
func connectTarget(h *head) (authority, *badHead) {
	to, err := parseAuthority(h.target, 0)
	if err != nil {
		return authority{}, malformed("a CONNECT whose target is not host:port: " + err.Error())
	}
	if !h.hosted {
		return to, nil
	}
	host, err := parseAuthority(h.host, to.port)
	if err != nil || !proxyItself(host.host) && (!sameHost(host.host, to.host) || host.port != to.port) {
		return authority{}, malformed("a Host that is not the target")
	}
	return to, nil
}

// proxyItself says whether a Host is this machine's loopback, where every client
// finds the proxy: there is no other way to call a CONNECT to it.
func proxyItself(host string) bool {
	a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return err == nil && a.Unmap().IsLoopback() || sameHost(host, "localhost")
}

// sendBad refuses a request that is malformed.
func (p *Proxy) sendBad(g *gate, by judge.By, h *head, wrong *badHead) {
	p.badAnswer(by, h, wrong).send(g)
}

func (p *Proxy) badAnswer(by judge.By, h *head, wrong *badHead) answer {
	r := &Refusal{Sandbox: p.config.Sandbox, By: by, Host: judge.Shown(withoutSecrets(h.target)), Reason: judge.Malformed, Detail: wrong.why}
	if h.into != nil {
		r.By, r.Host, r.Port = h.into.by, h.into.host, h.into.port
	}
	if wrong == errPreface {
		r.Reason = Protocol
		if h.into != nil {
			r.Open = judge.OpenTCP(judge.Decision{Host: r.Host, Port: r.Port})
		}
	}
	p.tell(r)
	a := r.of(nil)
	a.last = true
	if wrong.status != http.StatusBadRequest {
		a.status = wrong.status
	}
	return a
}

// A call is one that was let through.
type call struct {
	proxy    *Proxy
	ctx      context.Context // ends with a stop
	by       judge.By
	decision judge.Decision
	meter    *tunnel.Meter
	began    time.Time
	end      func()

	far   net.Conn // once connected
	early []byte   // what the far side said already
	warm  atomic.Pointer[net.Conn]
	heard *overheard // where what is said first is noted

	secure bool // a request that the proxy itself carries in TLS
}

// call admits a call and takes a place for it: the place is given back by
// over or failed.
func (p *Proxy) call(asked judge.Call) (*call, *Refusal) {
	asked.Host = p.named(asked.Host)
	ctx := p.dialContext() // from before the wire is looked at: a stop after that ends it
	d, end, r := p.admit(ctx, asked)
	if r != nil {
		return nil, r
	}
	return &call{proxy: p, ctx: ctx, by: asked.By, decision: d, meter: tunnel.NewMeter(&p.meter), began: time.Now(), end: end}, nil
}

// named is a host by its name where it was called by an address that stands for
// one.
func (p *Proxy) named(host string) string {
	if p.config.Name == nil {
		return host
	}
	if a, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		if name, ok := p.config.Name(a.Unmap()); ok {
			return name
		}
	}
	return host
}

// connect opens the way.
func (c *call) connect() (err error) {
	c.far, c.early, err = c.proxy.dialOut(c.ctx, c.by, c.decision)
	return err
}

// failed ends a call that came to nothing; detail says why, for the log.
func (c *call) failed(detail string) {
	if c.far != nil {
		c.far.Close()
	}
	c.over(Failed, detail)
}

// unused ends a call in whose tunnel nothing was asked.
func (c *call) unused() {
	c.far.Close()
	c.over("", "")
}

// over ends a call and tells of it.
func (c *call) over(why judge.Reason, detail string) {
	c.end()
	if why == "" {
		c.learn()
	}
	if c.proxy.config.Ended == nil {
		return
	}
	r := Record{
		At: c.began, By: c.by, Host: c.decision.Host, Port: c.decision.Port, Allowed: true, Reason: why, Detail: detail,
		Up: c.meter.Up(), Down: c.meter.Down(), Took: time.Since(c.began),
	}
	if c.far != nil {
		if at, ok := addrPort(c.far.RemoteAddr()); ok {
			r.Address = at.Addr()
		}
	}
	r.cut(c.proxy, c.ctx)
	c.proxy.config.Ended(r)
}

// carry moves what is said on a call that is connected, as its rule has it. It
// owns both connections.
func (p *Proxy) carry(g *gate, c *call) {
	switch c.decision.Expect {
	case judge.HTTP:
		p.serveInside(g, c)
		return
	case judge.TLS:
		first, ok, r := p.readHello(g, c.by, c.decision)
		if !ok {
			p.turnAway(g, c, r)
			return
		}
		p.tunnel(g, c, p.watchHello(c, first))
		return
	}
	p.tunnel(g, c, nil)
}

// turnAway ends a call whose program said what its rule does not open, or
// nothing. A TLS client is told in its own words.
func (p *Proxy) turnAway(g *gate, c *call, r *Refusal) {
	c.far.Close()
	if r == nil {
		g.Close()
		c.over("", "")
		return
	}
	p.tell(r)
	if c.by != judge.ByTransparent {
		g.Conn.SetWriteDeadline(time.Now().Add(headTime))
		g.Conn.Write(accessDenied)
		g.linger()
		g.Close()
	} else {
		g.Cut()
	}
	c.over(r.Reason, r.Detail)
}

// tunnel begins to move bytes between the program and the far side, which goes
// on until both end.
func (p *Proxy) tunnel(g *gate, c *call, watched *watchedHello) {
	g.leave()
	t := &tunnel.Tunnel{
		Near: g.Conn, Far: c.far, FromNear: g.unread(), FromFar: c.early,
		Meter: c.meter, Valve: &p.valve, Idle: tunnelIdle, Drain: tunnelDrain,
	}
	g.forget()
	if watched != nil {
		t.Watch = watched.watch
	}
	if p.config.Learned != nil {
		c.heard = &overheard{Conn: t.Near}
		c.heard.note(t.FromNear)
		t.Near = c.heard
	}
	if !p.add(t) {
		c.over("", "")
		return
	}
	p.work.Add(1) // the caller has one: Close does not run out of them between
	t.Start(func(error) {
		p.drop(t)
		c.over(watched.why())
		p.work.Done()
	})
}
