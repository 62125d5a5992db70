package tool

import (
	"context"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// pages bounds the pages that are opened.
type pages struct {
	mu      sync.Mutex
	limiter *rate.Limiter
	last    string
	at      time.Time
}

// take says whether a page is to be opened now: one that was opened a moment
// ago is there, and many at once are refused.
func (p *pages) take(page string, now time.Time) (again bool, r *refusal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == page && now.Sub(p.at) < samePage {
		return true, nil
	}
	if !p.limiter.AllowN(now, 1) {
		return false, refuse(http.StatusTooManyRequests, "more pages than one every %s", pageEvery)
	}
	return false, nil
}

func (p *pages) opened(page string, now time.Time) {
	p.mu.Lock()
	p.last, p.at = page, now
	p.mu.Unlock()
}

// Opener is the bridge that opens pages in this machine's browser, each asked
// about: a POST whose body, or whose query member url, is the address. opener
// is the absolute path of the system's own: xdg-open, or open on macOS.
func (h *Host) Opener(opener string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m := Made{Name: "open"}
		err := h.open(w, r, opener, &m)
		m.Refused = err
		h.tell(r.Context(), m)
		if err != nil {
			h.refused(w, "open", asRefusal(err))
			return
		}
		io.WriteString(w, "opened\n")
	})
}

func (h *Host) open(w http.ResponseWriter, r *http.Request, opener string, m *Made) error {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return refuse(http.StatusMethodNotAllowed, "a page is opened by a POST with its address")
	}
	if !asked(r) {
		return refuse(http.StatusForbidden, "a web page opens no other")
	}
	ctx, cancel := h.bound(r.Context())
	defer cancel()
	leave, full := h.enter(ctx)
	if full != nil {
		return full
	}
	defer leave()
	said, bad := addressOf(r)
	if bad != nil {
		return bad
	}
	page, bad := page(said)
	if bad != nil {
		return bad
	}
	if u, err := url.Parse(page); err == nil {
		m.Host, m.Asked = u.Host, true
	}
	return h.show(ctx, page, opener)
}

// show asks about a page and opens it.
func (h *Host) show(ctx context.Context, page, opener string) error {
	argv := []string{opener, page}
	if opener == "" {
		return refuse(http.StatusNotImplemented, "this machine has no xdg-open")
	}
	again, r := h.pages.take(page, time.Now())
	if r != nil {
		return r
	}
	if again {
		return nil
	}
	if err := h.ask(ctx, Question{Sandbox: h.config.Sandbox, Name: "open", Page: true, Argv: argv}, func(string) {}); err != nil {
		return err
	}
	if err := h.openPage(argv); err != nil {
		return refuse(http.StatusBadGateway, "the page could not be opened: %v", err)
	}
	h.pages.opened(page, time.Now())
	return nil
}

// addressOf is the address that a request names, as it stands there.
func addressOf(r *http.Request) (string, *refusal) {
	if r.URL.RawQuery != "" {
		q, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil || len(q["url"]) != 1 || len(q) != 1 {
			return "", refuse(http.StatusBadRequest, "the query: want one member, url")
		}
		return q.Get("url"), nil
	}
	b, err := io.ReadAll(io.LimitReader(r.Body, maxURL+1))
	if err != nil {
		return "", refuse(http.StatusBadRequest, "the request was cut off")
	}
	text := strings.TrimSuffix(string(b), "\n")
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "application/x-www-form-urlencoded" && strings.HasPrefix(text, "url=") {
		q, err := url.ParseQuery(text)
		if err != nil || len(q["url"]) != 1 || len(q) != 1 {
			return "", refuse(http.StatusBadRequest, "the form: want one member, url")
		}
		return q.Get("url"), nil
	}
	return text, nil
}

// page gives an address that a browser may be given, in one form: http or
// https, a host, nobody's credentials, and no byte that a shell, an option or
// a terminal could read as its own.
func page(said string) (string, *refusal) {
	no := func(format string, a ...any) (string, *refusal) {
		return "", refuse(http.StatusForbidden, "the address: "+format, a...)
	}
	if len(said) > maxURL {
		return no("longer than %d bytes", maxURL)
	}
	for i := range len(said) {
		if c := said[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"'<>\\^`{|}", c) >= 0 {
			return no("a byte that stands in none: percent-encode it")
		}
	}
	u, err := url.Parse(said)
	switch {
	case err != nil:
		return no("cannot be read")
	case u.Scheme != "http" && u.Scheme != "https":
		return no("want http or https")
	case u.Opaque != "" || u.Hostname() == "":
		return no("no host")
	case u.User != nil:
		return no("credentials in it")
	}
	page := u.String()
	if !strings.HasPrefix(page, "http") {
		return no("cannot be read")
	}
	return page, nil
}
