package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// Some clients (axios for most of its life) ask a proxy for https as for http:
// with the whole address in the request line, and no CONNECT. The proxy then
// opens TLS towards the host itself, holds it to its certificate, and carries
// the request in it; the program's own TLS is never opened.

// An unsafeError is why TLS towards a host failed, in fixed words.
type unsafeError struct{ words string }

func (e *unsafeError) Error() string { return e.words }

const (
	wordsUntrusted = "the host's certificate is not one that this machine trusts for it"
	wordsNoTLS     = "the host could not be reached over TLS"
)

// dialSecure connects for a request over https.
func (p *Proxy) dialSecure(ctx context.Context, c *call) (*origin, error) {
	far, early, err := p.dialOut(ctx, c.by, c.decision)
	if err != nil {
		return nil, err
	}
	if len(early) > 0 {
		far.Close() // TLS's server does not speak first
		return nil, errEarly
	}
	ctx, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	secure := tls.Client(far, &tls.Config{
		ServerName: strings.Trim(c.decision.Host, "[]"), RootCAs: p.config.Roots, ClientSessionCache: p.sessions,
		NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12,
	})
	if err := secure.HandshakeContext(ctx); err != nil {
		far.Close()
		var untrusted *tls.CertificateVerificationError
		if errors.As(err, &untrusted) {
			return nil, &unsafeError{wordsUntrusted}
		}
		return nil, &unsafeError{wordsNoTLS}
	}
	return p.share(secure)
}

// speaks is what a request speaks towards its host.
func (t target) speaks() judge.Protocol {
	if t.secure {
		return judge.TLS
	}
	return judge.HTTP
}

// heldTo refuses a request that is not in the protocol that its rule opens.
func (c *call) heldTo(t target) *Refusal {
	switch {
	case c.decision.Expect == judge.AnyProtocol || c.decision.Expect == t.speaks():
		return nil
	case t.secure:
		return c.proxy.refuseProtocol(c.by, c.decision, "what was asked for is https: at 80 hosts opens http only", true)
	}
	return c.proxy.refuseProtocol(c.by, c.decision, "what was asked for is http: at 443 hosts opens TLS only", true)
}
