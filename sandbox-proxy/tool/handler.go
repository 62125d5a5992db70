package tool

import (
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tool/frame"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// Header names of what is said of a call.
const (
	// refusedHeader names what was refused, beside the line that says why.
	refusedHeader = "Lnk-Refused"
	// statusHeader and stderrHeader are the trailers of a call's answer.
	statusHeader = "Lnk-Status"
	stderrHeader = "Lnk-Stderr"
)

// A bridge is one tool of a host, as a proxy mounts it.
type bridge struct {
	host *Host
	name string
	tool route.Tool
}

// Tool is the bridge of one tool. It ends with the host.
func (h *Host) Tool(name string, t route.Tool) http.Handler { return &bridge{h, name, t} }

// ServeHTTP makes one call.
func (b *bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		b.refused(w, r, nil, refuse(http.StatusMethodNotAllowed, "a call of a tool is a POST"))
		return
	}
	if !asked(r) {
		b.refused(w, r, nil, refuse(http.StatusForbidden, "a web page calls no tool"))
		return
	}
	ctx, cancel := b.host.bound(r.Context())
	defer cancel()
	leave, full := b.host.enter(ctx)
	if full != nil {
		b.refused(w, r, nil, full)
		return
	}
	defer leave()
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err == nil && kind == frame.ContentType:
		b.framed(ctx, cancel, w, r)
	case err == nil && kind == "application/json":
		b.whole(ctx, w, r)
	default:
		b.streamed(ctx, w, r)
	}
}

// asked says whether a program made the request, and not a page in a browser
// that the proxy's address was told (the Fetch standard, Origin; Fetch
// Metadata).
func asked(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return len(r.Header["Origin"]) == 0 && (site == "" || site == "none")
}

// refused answers a call that is not made.
func (b *bridge) refused(w http.ResponseWriter, r *http.Request, words []string, why *refusal) {
	m := b.of(words)
	m.Refused = why
	if words == nil {
		m.Asked = false // it was not come to
	}
	b.host.tell(r.Context(), m)
	b.host.refused(w, "tool", why)
}

// refused answers with a line that says why.
func (h *Host) refused(w http.ResponseWriter, what string, r *refusal) {
	w.Header().Set(refusedHeader, what)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if r.status == http.StatusServiceUnavailable || r.status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Connection", "close") // what is left of the body is not read
	w.WriteHeader(r.status)
	io.WriteString(w, oneLine(r.why)+"\n")
}

// asRefusal is an error of judging as what is answered.
func asRefusal(err error) *refusal {
	var r *refusal
	if errors.As(err, &r) {
		return r
	}
	return refuse(http.StatusInternalServerError, "%v", err)
}

// A jsonCall is a call in JSON.
type jsonCall struct {
	args       []string
	cwd, stdin string
}

// readJSON reads one, strictly.
func readJSON(r io.Reader) (c jsonCall, _ *refusal) {
	err := form.Read(r, form.Object(
		form.Required("args", form.Strings(&c.args)),
		form.Optional("cwd", form.String(&c.cwd)),
		form.Optional("stdin", form.String(&c.stdin)),
	))
	if err != nil {
		return jsonCall{}, refuse(http.StatusBadRequest, "%v", err)
	}
	return c, nil
}
