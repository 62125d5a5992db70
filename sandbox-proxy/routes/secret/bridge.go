package secret

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes/account"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes/redact"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// The reasons of refusals of a secret's route, as in Lnk-Refused.
const (
	badCredential judge.Reason = "credential" // another credential than the route's
	badPath       judge.Reason = "path"       // not one of the route's paths
	badMethod     judge.Reason = "method"     // a method that has a host repeat the request
)

type bridge struct {
	proxy  *proxy.Proxy
	client *proxy.Client
	place
	host     string // of the host, as a Host header has it
	mount    string
	paths    []string // in one form; nil is any
	redactor *redact.Redactor
	frames   *redact.Redactor // for what must keep its length
}

// New makes the bridge of a secret's route.
func New(r route.Route, with routes.With) (routes.Bridge, error) {
	s, is := r.Kind.(route.Secret)
	if !is {
		return nil, errors.New("not a secret: this is a bug of the caller")
	}
	b := &bridge{
		proxy: with.Proxy, client: with.Proxy.NewClient(with.TLS), mount: with.Mount,
		place: place{header: http.CanonicalHeaderKey(s.Header), query: s.Query, value: s.Value, placeholder: s.Placeholder},
		host:  strings.TrimSuffix(s.Host, ":443"),
	}
	if s.Paths != nil {
		b.paths = []string{}
	}
	for _, p := range s.Paths {
		one, err := onePath(p)
		if err != nil {
			return nil, errors.New("paths: " + err.Error())
		}
		b.paths = append(b.paths, one)
	}
	b.redactor = redact.New(s.Value, s.Placeholder)
	b.frames = b.redactor.Fitted()
	return b, nil
}

// Close closes the connections that are kept.
func (b *bridge) Close() error {
	b.client.Close()
	return nil
}

// ServeHTTP carries one request to the host and the answer back.
func (b *bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rc := http.NewResponseController(w)
	rc.EnableFullDuplex()
	out, how, refused := b.request(r)
	if refused != nil {
		b.proxy.Refuse(w, r, refused.reason, refused.detail)
		return
	}
	early := proxy.NewInterim(w, r, how.head)
	resp, err := b.client.RoundTrip(out.WithContext(early.In(r.Context())))
	early.End()
	if err != nil {
		b.proxy.Answer(w, r, err)
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols {
		b.switched(w, r, resp, how)
		return
	}
	b.answer(w, r, resp, how)
}

// A refusal is why a request is not sent.
type refusal struct {
	reason judge.Reason
	detail string
}

// request makes the request that goes on: to the host, with the value where
// the placeholder stands, and with nothing that is the proxy's own. How says
// how its answer is to be read.
func (b *bridge) request(r *http.Request) (out *http.Request, how *reply, refused *refusal) {
	if account.Repeats(r.Method) {
		return nil, nil, &refusal{badMethod, "a " + r.Method + " has the host repeat what it was sent"}
	}
	at := *r.URL
	at.Scheme, at.Host = "https", b.host
	if b.paths != nil {
		if refused := b.allow(&at); refused != nil {
			return nil, nil, refused
		}
	}
	websocket := asksWebsocket(r.Header)
	header := r.Header.Clone()
	proxy.StripHop(header)
	cleanHeader(header, b.paths != nil)
	how = &reply{bridge: b, redactor: b.redactor, websocket: websocket, at: r.Host}
	if why := b.put(header, &at, how); why != "" {
		return nil, nil, &refusal{badCredential, why}
	}
	routes.Refer(header, b.mount, "https://"+b.host)
	if websocket {
		header.Set("Connection", "Upgrade")
		header.Set("Upgrade", "websocket")
		header.Del("Sec-Websocket-Extensions") // what is compressed could not be read
	}
	out = &http.Request{
		Method: r.Method, URL: &at, Host: b.host, Header: header,
		Body: r.Body, ContentLength: r.ContentLength,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		// A host that answers without wanting the body must not be sent it.
		Close: r.Header.Get("Expect") != "",
	}
	if r.ContentLength == 0 || r.Body == nil {
		out.Body = http.NoBody
	}
	b.trailers(r, out)
	return out, how, nil
}

// cleanHeader takes out what would have the host answer in a form that cannot
// be read, what names another host, and, where paths are held to, another path.
func cleanHeader(h http.Header, paths bool) {
	h.Set("Accept-Encoding", "identity")
	for name := range h {
		// The value could be asked for in pieces. A host may answer with the whole
		// (RFC 9110 section 14.2).
		if paths && account.Elsewhere(name) || account.OtherHost(name) || account.Shadows(name) || account.Partial(name) {
			delete(h, name)
		}
	}
	if _, ok := h["User-Agent"]; !ok {
		h["User-Agent"] = nil // none, and not Go's
	}
}

// trailers has the trailers follow that may: a credential is none of them.
func (b *bridge) trailers(r *http.Request, out *http.Request) {
	if r.Trailer == nil {
		return
	}
	out.Trailer = http.Header{}
	for name := range r.Trailer {
		if !b.carries(name) && !account.Elsewhere(name) && !account.OtherHost(name) && !account.Shadows(name) && !account.Partial(name) {
			out.Trailer[name] = nil
		}
	}
	if out.Body != http.NoBody {
		out.Body = &trailed{out.Body, r.Trailer, out.Trailer}
	}
}

// trailed is a body whose trailers are known when it has been read.
type trailed struct {
	io.ReadCloser
	from, to http.Header
}

func (t *trailed) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	if err == io.EOF {
		for name := range t.to {
			t.to[name] = t.from[name]
		}
	}
	return n, err
}

// allow holds a request to the route's paths, and gives it the path in the form
// in which it was compared.
func (b *bridge) allow(at *url.URL) *refusal {
	one, err := onePath(at.EscapedPath())
	if err != nil {
		return &refusal{badPath, "the path " + err.Error()}
	}
	for _, p := range b.paths {
		if one == p || strings.HasSuffix(p, "/") && strings.HasPrefix(one, p) {
			plain, err := url.PathUnescape(one)
			if err != nil {
				return &refusal{badPath, "the path is not one"}
			}
			at.Path, at.RawPath = plain, one
			return nil
		}
	}
	return &refusal{badPath, "the path is none of this route's paths"}
}
