package carry

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes/redact"
)

// Kinds are the makers of this package's bridges by the names of their kinds.
func Kinds() routes.Kinds {
	return routes.Kinds{"model": newModel, "local_model": newLocalModel, "bridge": newSocket}
}

// A carrier carries requests to one server and its answers back.
type carrier struct {
	proxy  *proxy.Proxy
	client http.RoundTripper
	mount  string // where the program finds it, with no slash at its end
	scheme string
	host   string // the server's, as it is dialled and as Host says it
	base   string // of its paths, escaped, with no slash at its end
	// ask changes what goes on. An answer is read by answered, which may change
	// its head and put a reader around its body. Nil changes nothing.
	ask      func(out *http.Request)
	answered func(out *http.Request, resp *http.Response)
	// unanswered is told of a request that the server was sent whole and gave no
	// answer to, as where the program was gone before. Nil is not told.
	unanswered func(out *http.Request)
	// redactor takes out of answers what the program must not have. Nil takes
	// nothing out. It keeps lengths.
	redactor *redact.Redactor
}

// serve carries one request.
func (c *carrier) serve(w http.ResponseWriter, r *http.Request) {
	http.NewResponseController(w).EnableFullDuplex() // a server may answer before it has the whole
	out, err := c.request(r)
	if err != nil {
		c.proxy.Refuse(w, r, refusedPath, err.Error())
		return
	}
	early := proxy.NewInterim(w, r, func(h http.Header) { c.head(h, nil) })
	out, sent := watch(out)
	resp, err := c.client.RoundTrip(out.WithContext(early.In(out.Context())))
	early.End()
	if err != nil {
		if c.unanswered != nil && sent.Load() {
			c.unanswered(out)
		}
		c.failed(w, r, err)
		return
	}
	unread := c.decode(r, resp)
	if c.answered != nil {
		c.answered(out, resp)
	}
	defer resp.Body.Close()
	if unread != nil {
		c.proxy.Refuse(w, r, proxy.Unreadable, unread.Error())
		return
	}
	agreed := upgradeOf(resp.Header)
	c.head(resp.Header, resp.Trailer)
	if resp.StatusCode == http.StatusSwitchingProtocols {
		c.upgrade(w, r, resp, upgradeOf(out.Header), agreed)
		return
	}
	c.pass(w, r, resp)
}

// failed answers a request that came to nothing.
func (c *carrier) failed(w http.ResponseWriter, r *http.Request, err error) {
	var no *socketError
	if errors.As(err, &no) {
		c.proxy.Refuse(w, r, refusedSocket, no.Error())
		return
	}
	c.proxy.Answer(w, r, err)
}

// request makes the request that goes on.
func (c *carrier) request(r *http.Request) (*http.Request, error) {
	out := &http.Request{
		Method: r.Method,
		URL: &url.URL{
			Scheme: c.scheme, Host: c.host,
			Path: r.URL.Path, RawPath: r.URL.EscapedPath(), RawQuery: r.URL.RawQuery, ForceQuery: r.URL.ForceQuery,
		},
		Host: c.host, Header: r.Header.Clone(), Body: r.Body, ContentLength: r.ContentLength,
		Trailer: r.Trailer, // filled when the body has been read
		// A server that answers without wanting the body must not be sent it.
		Close: r.Header.Get("Expect") != "",
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if err := c.rebase(out.URL); err != nil {
		return nil, err
	}
	if r.ContentLength == 0 {
		out.Body = http.NoBody
	}
	upgrade := upgradeOf(r.Header)
	proxy.StripHop(out.Header)
	if c.upgrades(upgrade) {
		out.Header.Set("Connection", "Upgrade")
		out.Header.Set("Upgrade", upgrade)
	}
	if _, ok := out.Header["User-Agent"]; !ok {
		out.Header["User-Agent"] = nil // none, and not Go's
	}
	c.refer(out.Header)
	if c.ask != nil {
		c.ask(out)
	}
	return out.WithContext(r.Context()), nil
}

var pieces = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// pass passes an answer on, each piece as it comes.
func (c *carrier) pass(w http.ResponseWriter, r *http.Request, resp *http.Response) {
	h := w.Header()
	clear(h)
	for name, values := range resp.Header {
		h[name] = values
	}
	announced := make(map[string]bool, len(resp.Trailer))
	for name := range resp.Trailer {
		announced[name] = true
		h.Add("Trailer", name)
	}
	for _, name := range []string{"Date", "Content-Type"} {
		if _, ok := h[name]; !ok {
			h[name] = nil // none, and not ours
		}
	}
	w.WriteHeader(resp.StatusCode)
	flush := http.NewResponseController(w).Flush
	if r.Method != http.MethodHead {
		flush()
	}
	buf := pieces.Get().(*[]byte)
	defer pieces.Put(buf)
	through := c.stream()
	for {
		n, err := resp.Body.Read(*buf)
		last := errors.Is(err, io.EOF)
		if piece := through((*buf)[:n], last); len(piece) > 0 {
			if _, werr := w.Write(piece); werr != nil {
				panic(http.ErrAbortHandler)
			}
			flush()
		}
		if last {
			break
		}
		if err != nil {
			panic(http.ErrAbortHandler) // what is cut must not look whole
		}
	}
	c.redact(resp.Trailer) // known by now
	for name, values := range resp.Trailer {
		if !announced[name] {
			name = http.TrailerPrefix + name
		}
		h[name] = values
	}
}
