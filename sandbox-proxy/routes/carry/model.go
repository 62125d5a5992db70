package carry

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	measure "github.com/lnkhq/lnk-sandbox/measure-contract"
	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes/account"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tokens"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// The reasons of this package's refusals, as Lnk-Refused has them.
const (
	refusedPath   judge.Reason = "path"
	refusedMethod judge.Reason = "method"
	refusedSocket judge.Reason = "socket"
)

// A model is the bridge of a model's API.
type model struct {
	carrier carrier
	client  *proxy.Client
	header  string
	value   string
	ledger  tokens.Ledger
}

// newModel makes the bridge of a model's API.
func newModel(r route.Route, with routes.With) (routes.Bridge, error) {
	k, is := r.Kind.(route.Model)
	if !is {
		return nil, fmt.Errorf("a route of kind %q: this is a bug of the caller", r.KindName())
	}
	at, err := url.Parse(k.Upstream)
	if err != nil {
		return nil, errors.New("upstream: want https://host[:port][/path]")
	}
	m := &model{client: with.Proxy.NewClient(with.TLS), header: k.Header, value: k.Value}
	m.carrier = carrier{
		proxy: with.Proxy, client: m.client, mount: with.Mount, redactor: redactorOf(k.Value),
		scheme: at.Scheme, host: at.Host, base: baseOf(at), ask: m.ask, answered: m.answered, unanswered: m.unanswered,
	}
	return m, nil
}

// baseOf is what every path of an API begins with. OpenAI's own is meant with
// its version where it comes without.
func baseOf(at *url.URL) string {
	base := strings.TrimRight(at.EscapedPath(), "/")
	if base == "" && strings.EqualFold(at.Hostname(), "api.openai.com") {
		return "/v1"
	}
	return base
}

// ServeHTTP carries a request, the key added to it.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if account.Repeats(r.Method) || r.Method == http.MethodConnect {
		// An answer to TRACE is the request as it arrived, the key in it.
		m.carrier.proxy.Refuse(w, r, refusedMethod, "an API of a model is not asked by "+r.Method)
		return
	}
	if mints(r.Method, r.URL.EscapedPath()) {
		m.carrier.proxy.Refuse(w, r, refusedCredential, "an API of a model is not asked for another key: add a secret's route to its host if the program needs one")
		return
	}
	m.carrier.serve(w, r)
}

// Tokens is what the answers used so far.
func (m *model) Tokens() measure.Tokens { return m.ledger.Tokens() }

// Close closes the connections that are kept.
func (m *model) Close() error {
	m.client.Close()
	return nil
}

// inQuery are members of a query that are credentials of model APIs, beside
// those of every host.
var inQuery = map[string]bool{
	"key":          true,
	"$httpheaders": true, // which Google reads headers from
}

// ask takes the program's own credentials out of a request, and puts the key in.
func (m *model) ask(out *http.Request) {
	for name := range out.Header {
		if account.Header(name) || account.Elsewhere(name) || account.OtherHost(name) || account.OtherMethod(name) || account.Shadows(name) || account.Partial(name) {
			// The key is good for other paths and hosts too, what is asked is counted,
			// and what comes in ranges could not be read.
			delete(out.Header, name)
		}
	}
	out.Trailer = nil // nothing that an API reads
	withoutProtocolKey(out.Header)
	out.URL.RawQuery = withoutCredentials(out.URL.RawQuery)
	out.Header.Set(m.header, m.value)
	// What is compressed could not be read.
	out.Header.Set("Accept-Encoding", "identity")
	out.Header.Del("Sec-Websocket-Extensions")
}

// protocolKey begins the name of a websocket's protocol that is a key: how a
// browser, which sets no headers, gives OpenAI one.
const protocolKey = "openai-insecure-api-key."

func withoutProtocolKey(h http.Header) {
	const name = "Sec-Websocket-Protocol"
	var kept []string
	for _, line := range h[name] {
		for one := range strings.SplitSeq(line, ",") {
			if one = strings.TrimSpace(one); !strings.HasPrefix(strings.ToLower(one), protocolKey) {
				kept = append(kept, one)
			}
		}
	}
	delete(h, name)
	if len(kept) > 0 {
		h.Set(name, strings.Join(kept, ", "))
	}
}

// withoutCredentials leaves members out of a query, the rest as it is.
func withoutCredentials(query string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(query, "&"), holdsCredential), "&")
}

func holdsCredential(part string) bool {
	for one := range strings.SplitSeq(part, ";") { // which some take for &
		name, _, _ := strings.Cut(one, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if account.Query(name) || inQuery[account.Member(name)] {
			return true
		}
	}
	return false
}

// answered has what an answer used counted as it passes. An error is no answer
// of a model's.
func (m *model) answered(out *http.Request, resp *http.Response) {
	if resp.StatusCode == http.StatusSwitchingProtocols {
		m.ledger.Answered(tokens.Usage{}, false) // what is said on is nobody's to read
		return
	}
	form, asks := tokens.FormOf(out.Method, out.URL.EscapedPath())
	if !asks || resp.StatusCode/100 != 2 {
		return
	}
	coding := strings.Join(resp.Header["Content-Encoding"], ", ")
	resp.Body = &counted{ReadCloser: resp.Body, answer: form.Answer(coding), ledger: &m.ledger}
}

// unanswered counts a request whose answer nobody had: a model makes an answer
// also where its caller is gone before it begins.
func (m *model) unanswered(out *http.Request) {
	if _, asks := tokens.FormOf(out.Method, out.URL.EscapedPath()); asks {
		m.ledger.Answered(tokens.Usage{}, false)
	}
}

// A counted is the body of an answer whose usage is counted as it is read.
type counted struct {
	io.ReadCloser
	answer *tokens.Answer
	ledger *tokens.Ledger
	over   bool
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	if c.over {
		return n, err
	}
	c.answer.Write(b[:n])
	if err != nil {
		c.end(err == io.EOF)
	}
	return n, err
}

// Close ends it where it stands.
func (c *counted) Close() error {
	if !c.over {
		c.end(false)
	}
	return c.ReadCloser.Close()
}

func (c *counted) end(whole bool) {
	c.over = true
	c.ledger.Answered(c.answer.End(whole))
}
