package secret

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes/redact"
)

// A reply is how the answer to one request is read.
type reply struct {
	*bridge
	redactor  *redact.Redactor
	websocket bool
	at        string // the proxy, as the program named it
}

// inMessages is what replaces in a websocket's messages, each as long as it was.
func (p *reply) inMessages() *redact.Redactor {
	if p.redactor == p.bridge.redactor {
		return p.bridge.frames
	}
	return p.redactor.Fitted()
}

// head makes an answer's header one for the program: without what is for one
// hop, the placeholder for the value, and the route for the host.
func (p *reply) head(h http.Header) {
	proxy.StripHop(h)
	for name, values := range h {
		if p.redactor.InFold(name) {
			delete(h, name)
			continue
		}
		for i, v := range values {
			values[i] = p.redactor.String(v)
		}
	}
	for _, name := range []string{"Location", "Content-Location"} {
		if to := h.Get(name); to != "" {
			h.Set(name, p.toRoute(to))
		}
	}
}

// toRoute turns an address of the host into the route's. Any other is left as
// it is.
func (p *reply) toRoute(to string) string {
	rest, absolute := cutPrefixFold(to, "https:")
	authority, whole := strings.CutPrefix(rest, "//")
	switch {
	case whole:
		end := len(authority)
		if n := strings.IndexAny(authority, "/?#"); n >= 0 {
			end = n
		}
		if !strings.EqualFold(strings.TrimSuffix(authority[:end], ":443"), p.host) {
			return to
		}
		rest = authority[end:]
	case absolute || !strings.HasPrefix(to, "/"):
		return to
	}
	if p.at == "" {
		return p.mount + rest
	}
	return "http://" + p.at + p.mount + rest
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		return s[len(prefix):], true
	}
	return s, false
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// answer passes the answer on as it comes.
func (b *bridge) answer(w http.ResponseWriter, r *http.Request, resp *http.Response, how *reply) {
	how.head(resp.Header)
	hasBody := r.Method != http.MethodHead && resp.StatusCode != http.StatusNoContent && resp.StatusCode != http.StatusNotModified && resp.ContentLength != 0
	if hasBody {
		if _, err := redact.Decode(resp); err != nil {
			b.proxy.Refuse(w, r, proxy.Unreadable, "the host answered in an encoding in which the secret's value could not be found")
			return
		}
		if !how.redactor.SameLength() {
			resp.Header.Del("Content-Length")
			resp.ContentLength = -1
		}
	}
	h := w.Header()
	clear(h)
	for name, values := range resp.Header {
		h[name] = values
	}
	announced := map[string]bool{}
	for name := range resp.Trailer {
		if how.redactor.InFold(name) {
			continue // which an answer may only have announced, too
		}
		announced[name] = true
		h.Add("Trailer", name)
	}
	for _, name := range []string{"Date", "Content-Type"} {
		if _, ok := h[name]; !ok {
			h[name] = nil // none, and not ours or guessed
		}
	}
	w.WriteHeader(resp.StatusCode)
	if hasBody {
		how.copy(w, resp.Body, resp.ContentLength < 0)
	}
	how.trailers(h, resp.Trailer, announced)
}

// copy passes a body on, each piece as it comes where its length is not known.
func (p *reply) copy(w http.ResponseWriter, body io.Reader, flush bool) {
	rc := http.NewResponseController(w)
	if flush {
		rc.Flush()
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	stream := p.redactor.Stream()
	for {
		n, err := body.Read(*buf)
		last := errors.Is(err, io.EOF)
		if piece := stream.Next((*buf)[:n], last); len(piece) > 0 {
			if _, werr := w.Write(piece); werr != nil {
				panic(http.ErrAbortHandler)
			}
			if flush {
				rc.Flush()
			}
		}
		if last {
			return
		}
		if err != nil {
			panic(http.ErrAbortHandler) // what is cut must not look whole
		}
	}
}

func (p *reply) trailers(h, trailer http.Header, announced map[string]bool) {
	for name, values := range trailer {
		if p.redactor.InFold(name) {
			continue
		}
		for i, v := range values {
			values[i] = p.redactor.String(v)
		}
		if !announced[name] {
			name = http.TrailerPrefix + name
		}
		h[name] = values
	}
}
