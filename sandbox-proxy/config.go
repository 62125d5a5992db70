package proxy

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// Config is what a proxy is made of.
type Config struct {
	_ [0]func()

	// Sandbox is named in refusals.
	Sandbox string
	// Judge decides every call.
	Judge *judge.Judge
	// Upstream is the proxy that calls go on to; the zero Upstream is none.
	Upstream Upstream
	// PerMinute bounds new calls a minute, in a token bucket of that size;
	// zero is no bound.
	PerMinute int
	// Secret, where it is not empty, is required as the password of every
	// CONNECT, plain request and SOCKS call on [Proxy.Serve], with any user.
	Secret string
	// Name gives the name that an address stands for, where it is one that the
	// sandbox's DNS gave out: a call of it is one of the name. Nil knows of
	// none.
	Name func(netip.Addr) (string, bool)
	// Local answers requests that are meant for the proxy itself: those that
	// name a path and no host. Nil refuses them. What it does beyond answering
	// it does in a [Proxy.Visit], and calls hosts by a [Client] only.
	Local http.Handler
	// Refused is told of refusals, each host and port once, from many
	// goroutines. Nil tells nobody.
	Refused func(Refusal)
	// Ended is told of every call that was decided, when it is over. Nil tells
	// nobody.
	Ended func(Record)
	// Wire reads what the owner says of this way out. It is asked on every
	// call, from many goroutines, and again whenever [Proxy.CheckWire] is
	// called; what it says holds until then. Nil leaves it to Stop, Pause and
	// Resume.
	Wire func() Wire
	// Learned is told what each call was used for, when it is over, by calls
	// that any protocol is let through for: what a program says first is then
	// noted. Nil notes nothing.
	Learned func(Learned)
	// Roots are who is trusted to say who a host is, where a request names https
	// and the proxy opens TLS itself. Nil is who this machine trusts.
	Roots *x509.CertPool
	// Dial connects to an address that was judged, or to the upstream. Nil is
	// the system's.
	Dial func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
}

func (c *Config) check() error {
	switch {
	case c.Judge == nil:
		return errors.New("a proxy needs a judge: this is a bug of the caller")
	case c.PerMinute < 0:
		return errors.New("per_minute: want zero or more")
	case c.Sandbox == "" || strings.ContainsFunc(c.Sandbox, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"\<>&`, r) }):
		return errors.New("a proxy needs its sandbox's name: letters, digits and . _ -")
	}
	return nil
}
