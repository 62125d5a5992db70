package proxy

import (
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes/account"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes/redact"
)

// What an upstream answers itself may hold what it was sent: an answer to TRACE,
// an error's page with the request in it (as Squid's before 7.2). The program is
// not to have the upstream's user and password by that.

// leastEcho is how long credentials must be to be looked for without the word
// in front of them, in bytes: fewer stand in other text.
const leastEcho = 12

// credentials are the upstream's user and password as they are sent to it, ""
// where there are none.
func (u Upstream) credentials() string {
	if u.user == nil {
		return ""
	}
	password, _ := u.user.Password()
	return base64.StdEncoding.EncodeToString([]byte(u.user.Username() + ":" + password))
}

// repeats says whether a request has an upstream answer with what it was sent.
func (u Upstream) repeats(method string) bool {
	return u.user != nil && account.Repeats(method)
}

// echo looks for an upstream's credentials, and is nil where there are none.
func (p *Proxy) echo(u Upstream) *redact.Redactor {
	secret := u.credentials()
	if secret == "" {
		return nil
	}
	if r, ok := p.echoes.Load(secret); ok {
		return r.(*redact.Redactor)
	}
	said := secret
	if len(secret) < leastEcho {
		said = "Basic " + secret
	}
	r := redact.New(said, strings.Repeat("x", len(said))).Fitted()
	p.echoes.Store(secret, r)
	return r
}

// withoutEcho takes them out of an answer.
func withoutEcho(r *redact.Redactor, resp *http.Response) {
	headWithoutEcho(r, resp.Header)
	resp.Status = r.String(resp.Status)
	if resp.Body != http.NoBody {
		resp.Body = &echoless{ReadCloser: resp.Body, stream: r.Stream(), end: func() { headWithoutEcho(r, resp.Trailer) }}
	}
}

func headWithoutEcho(r *redact.Redactor, h http.Header) {
	for _, values := range h {
		for i, v := range values {
			values[i] = r.String(v)
		}
	}
}

// echoless is a body without them.
type echoless struct {
	io.ReadCloser
	stream *redact.Stream
	buf    []byte
	out    []byte // of buf, not yet given
	err    error
	end    func() // once all has come, the trailers too
}

func (e *echoless) Read(p []byte) (int, error) {
	if e.buf == nil {
		e.buf = make([]byte, 16<<10)
	}
	for len(e.out) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		var n int
		if n, e.err = e.ReadCloser.Read(e.buf); e.err != nil {
			e.end()
		}
		e.out = e.stream.Next(e.buf[:n], errors.Is(e.err, io.EOF))
	}
	n := copy(p, e.out)
	e.out = e.out[n:]
	return n, nil
}
