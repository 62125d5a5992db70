package carry

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes/redact"
)

// head makes the head of an answer one for the program.
func (c *carrier) head(h, trailer http.Header) {
	proxy.StripHop(h)
	c.redact(h)
	for name := range trailer {
		if c.redactor != nil && c.redactor.InFold(name) {
			delete(trailer, name)
		}
	}
	c.relocate(h, "Location")
	c.relocate(h, "Content-Location")
}

// redact takes the key out of headers.
func (c *carrier) redact(h http.Header) {
	if c.redactor == nil {
		return
	}
	for name, values := range h {
		if c.redactor.InFold(name) {
			delete(h, name)
			continue
		}
		for i, v := range values {
			values[i] = c.redactor.String(v)
		}
	}
}

// decode takes the compression off an answer that was asked to have none, so
// that the key is found in it. The error is for one that cannot be taken off.
func (c *carrier) decode(r *http.Request, resp *http.Response) error {
	if c.redactor == nil || c.redactor.Nothing() || r.Method == http.MethodHead || resp.ContentLength == 0 ||
		resp.StatusCode < 200 || resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified {
		return nil
	}
	if _, err := redact.Decode(resp); err != nil {
		return errors.New("the server answered in an encoding in which the key could not be found, though it was asked for none: gzip and deflate are read")
	}
	return nil
}

// stream gives what a body's pieces pass through.
func (c *carrier) stream() func(piece []byte, last bool) []byte {
	if c.redactor == nil {
		return func(piece []byte, _ bool) []byte { return piece }
	}
	return c.redactor.Stream().Next
}

// refer turns an address of the route's in Referer into the server's.
func (c *carrier) refer(h http.Header) {
	base := c.scheme + "://" + c.host + c.base
	routes.Refer(h, c.mount, base)
	if from := h.Get("Referer"); strings.HasPrefix(from, base) {
		from, _, _ = strings.Cut(from, "?") // which may hold a key of the program's own
		h.Set("Referer", from)
	}
}

// relocate turns an address of the server's into the route's.
func (c *carrier) relocate(h http.Header, name string) {
	at, err := url.Parse(h.Get(name))
	if err != nil || h.Get(name) == "" || at.User != nil {
		return
	}
	ours := at.Scheme == c.scheme && strings.EqualFold(at.Host, c.host)
	if !ours && (at.Scheme != "" || at.Host != "") {
		return // another's goes back as it is
	}
	rest, under := strings.CutPrefix(at.EscapedPath(), c.base)
	if !under || !strings.HasPrefix(rest, "/") {
		return
	}
	to := url.URL{Path: c.mount + rest, RawQuery: at.RawQuery, ForceQuery: at.ForceQuery, Fragment: at.Fragment, RawFragment: at.RawFragment}
	if path, err := url.PathUnescape(rest); err == nil {
		to.Path, to.RawPath = c.mount+path, c.mount+rest
	}
	h.Set(name, to.String())
}
