package proxy

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// ownServer is where a program finds a server of its own that it asks the proxy
// for by an IPv6 address in brackets. Some clients know of exceptions from the
// proxy only as an address is written (Python's urllib, wget), and others end
// where one is written in brackets (httpx): so none is, and whoever asks is sent
// to a name that is an exception to all. One that asks the proxy for that too is
// refused.
func (p *Proxy) ownServer(h *head, by judge.By, at target) (location string, ok bool) {
	if at.secure || !strings.HasPrefix(at.host, "[") || h.method != http.MethodGet && h.method != http.MethodHead {
		return "", false
	}
	d := p.config.Judge.Rule(judge.Call{By: by, Host: at.host, Port: at.port})
	if d.Allowed || d.Reason != judge.Address || d.Host != "[::1]" && d.Host != "[::]" {
		return "", false
	}
	path := h.path
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return "http://localhost:" + strconv.Itoa(int(d.Port)) + path, true
}

// elsewhere is the answer that sends a program on.
func (p *Proxy) elsewhere(location string) answer {
	a := plainAnswer(http.StatusTemporaryRedirect, "lnk sandbox "+p.config.Sandbox+": a program calls its own servers without the proxy")
	a.header.Set("Location", location)
	return a
}
