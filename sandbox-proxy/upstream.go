package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	socksclient "golang.org/x/net/proxy"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// An Upstream is a proxy that calls go on to. The zero Upstream is none: the
// proxy dials itself.
//
// Calls are judged before they go on, and names by what they resolve to here;
// the upstream is told the name and resolves it again. The upstream's own
// address is not judged: the owner chose it.
type Upstream struct {
	scheme string // http, https, socks5; empty is none
	at     authority
	user   *url.Userinfo
	system *systemUpstreams // one for each kind of call, where it is the system's
}

// ParseUpstream reads "direct", http://, https:// or socks5:// with
// [user:password@]host:port, or what [SystemProxies.Text] gives.
func ParseUpstream(s string) (Upstream, error) {
	switch s {
	case "", "direct":
		return Upstream{}, nil
	case systemWord:
		return Upstream{}, errors.New("upstream: system: which proxies the system names was not read: this is a bug of the caller")
	}
	if strings.HasPrefix(s, systemWord+"\n") {
		return parseSystemText(s)
	}
	u, err := url.Parse(s)
	if err != nil {
		return Upstream{}, errors.New("upstream: not an address: want http://, https:// or socks5:// and host:port") // err would show the password
	}
	shown := u.Redacted()
	switch u.Scheme {
	case "http", "https", "socks5":
	default:
		return Upstream{}, fmt.Errorf("upstream: %s: want direct, http://, https:// or socks5://", shown)
	}
	if u.Opaque != "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return Upstream{}, fmt.Errorf("upstream: %s: holds more than a host and a port", shown)
	}
	at, err := parseAuthority(u.Host, 0)
	if err != nil {
		return Upstream{}, fmt.Errorf("upstream: %s: %w: want host:port", shown, err)
	}
	password, _ := u.User.Password()
	if len(u.User.Username()) > 255 || len(password) > 255 || strings.Contains(u.User.Username(), ":") {
		return Upstream{}, errors.New("upstream: a user or password that no proxy can be sent: at most 255 bytes each, no colon in the user")
	}
	return Upstream{scheme: u.Scheme, at: at, user: u.User}, nil
}

func (u Upstream) set() bool { return u.scheme != "" }

// String names the upstream, without its password.
func (u Upstream) String() string {
	if u.system != nil {
		return systemWord
	}
	if !u.set() {
		return "direct"
	}
	shown := url.URL{Scheme: u.scheme, User: u.user, Host: hostPort(u.at.host, u.at.port, 0)}
	return shown.Redacted()
}

// GoString keeps the password out of %#v.
func (u Upstream) GoString() string { return "proxy.Upstream(" + u.String() + ")" }

// forwards says whether plain requests go to the upstream as they are, rather
// than through a tunnel.
func (u Upstream) forwards() bool {
	if u.system != nil {
		return u.system.http.forwards() || u.system.all.forwards()
	}
	return u.scheme == "http" || u.scheme == "https"
}

// asProxy is a call's upstream as net/http's client knows one. The scheme is
// always http: dialUpstream opens the TLS of an https one.
func asProxy(r *http.Request) (*url.URL, error) {
	c, ok := r.Context().Value(callKey{}).(*call)
	if !ok {
		return nil, errDropped
	}
	u := c.upstream()
	return &url.URL{Scheme: "http", User: u.user, Host: hostPort(u.at.host, u.at.port, 0)}, nil
}

// upstream gives the upstream of a call that was decided.
func (c *call) upstream() Upstream {
	return c.proxy.config.Upstream.of(c.by, c.decision.Host, c.decision.Port)
}

// dialOut opens the way that a decision allows: to the addresses that were
// judged, or through the upstream. What the far side said already comes with
// it. This machine's loopback is never the upstream's to reach.
func (p *Proxy) dialOut(ctx context.Context, by judge.By, d judge.Decision) (net.Conn, []byte, error) {
	local := len(d.Addrs) > 0 && d.Addrs[0].Addr().IsLoopback()
	u := p.config.Upstream.of(by, d.Host, d.Port)
	if !u.set() || local {
		c, err := p.dialJudged(ctx, d.Addrs)
		return c, nil, err
	}
	c, err := p.dialUpstream(ctx, u)
	if err != nil {
		return nil, nil, err
	}
	c.SetDeadline(time.Now().Add(upstreamTime))
	unwatch := context.AfterFunc(ctx, func() { c.Close() })
	early, err := u.ask(ctx, c, d.Target())
	if !unwatch() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		c.Close()
		return nil, nil, err
	}
	c.SetDeadline(time.Time{})
	return c, early, nil
}

// dialUpstream connects to the upstream itself.
func (p *Proxy) dialUpstream(ctx context.Context, u Upstream) (net.Conn, error) {
	addrs, err := u.addrs(ctx)
	if err != nil {
		return nil, err
	}
	if p.self(addrs) {
		return nil, &upstreamError{UpstreamFailed + " is this proxy"}
	}
	c, err := p.dialFirst(ctx, addrs)
	if noRoom(err) {
		return nil, err
	}
	if err != nil {
		return nil, &upstreamError{UpstreamFailed + " could not be reached"}
	}
	if u.scheme != "https" {
		return c, nil
	}
	ctx, cancel := context.WithTimeout(ctx, upstreamTime)
	defer cancel()
	t := tls.Client(c, &tls.Config{ServerName: strings.Trim(u.at.host, "[]")})
	if err := t.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, upstreamTLS(err)
	}
	return t, nil
}

var upstreamResolver = &net.Resolver{PreferGo: true}

func (u Upstream) addrs(ctx context.Context) ([]netip.AddrPort, error) {
	host := strings.Trim(u.at.host, "[]")
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.AddrPort{netip.AddrPortFrom(a, u.at.port)}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	found, err := upstreamResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, &upstreamError{UpstreamFailed + "'s name has no address"}
	}
	var all []netip.AddrPort
	for _, a := range judge.Alternate(found) {
		all = append(all, netip.AddrPortFrom(a, u.at.port))
	}
	return all, nil
}

// ask has the upstream connect to the target.
func (u Upstream) ask(ctx context.Context, c net.Conn, target string) (early []byte, err error) {
	if u.scheme == "socks5" {
		return nil, u.askSOCKS(ctx, c, target)
	}
	var b strings.Builder
	b.WriteString("CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n")
	if secret := u.credentials(); secret != "" {
		b.WriteString("Proxy-Authorization: Basic " + secret + "\r\n")
	}
	b.WriteString("\r\n")
	if _, err := io.WriteString(c, b.String()); err != nil {
		return nil, &upstreamError{UpstreamFailed + " ended the connection"}
	}
	resp, early, err := readAnswer(c)
	switch {
	case err != nil:
		return nil, upstreamUnread(err)
	case resp.StatusCode/100 != 2:
		return nil, &upstreamError{u.said(resp)}
	}
	return early, nil
}

// maxInterim bounds the answers before the answer.
const maxInterim = 8

// readAnswer reads the answer to a CONNECT, and gives what was read past it:
// the far side may have spoken already.
func readAnswer(c net.Conn) (answer *http.Response, early []byte, err error) {
	var said answerHead
	r := said.readAnswers(io.LimitReader(c, maxHeadBytes))
	for range maxInterim {
		resp, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect})
		if err != nil {
			return nil, nil, err
		}
		if resp.StatusCode/100 == 1 && resp.StatusCode != http.StatusSwitchingProtocols {
			continue
		}
		early, err := r.Peek(r.Buffered())
		return resp, append([]byte(nil), early...), err
	}
	return nil, nil, errors.New("too many interim answers")
}

// askSOCKS speaks RFC 1928 and 1929 on the connection.
func (u Upstream) askSOCKS(ctx context.Context, c net.Conn, target string) error {
	var auth *socksclient.Auth
	if u.user != nil {
		password, _ := u.user.Password()
		auth = &socksclient.Auth{User: u.user.Username(), Password: password}
	}
	d, err := socksclient.SOCKS5("tcp", "upstream:1", auth, nil)
	if err != nil {
		return err
	}
	on, ok := d.(interface {
		DialWithConn(ctx context.Context, c net.Conn, network, address string) (net.Addr, error)
	})
	if !ok {
		return errors.New("the SOCKS client speaks on no connection of ours: this is a bug of the proxy")
	}
	if _, err := on.DialWithConn(ctx, c, "tcp", target); err != nil {
		return upstreamSOCKS(err)
	}
	return nil
}
