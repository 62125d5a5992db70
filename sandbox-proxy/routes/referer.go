package routes

import (
	"net/http"
	"net/url"
	"strings"
)

// Refer makes a request's Referer one for the far side of a route: see [Referer].
func Refer(h http.Header, mount, base string) {
	from := h.Get("Referer")
	h.Del("Referer")
	if from = Referer(from, mount, base); from != "" {
		h.Set("Referer", from)
	}
}

// Referer is a Referer as the far side of a route is given it (RFC 9110 section
// 10.1.3): an address below mount is the one below base that it stands for, and
// one that holds the URL secret in any other place, or cannot be read, is none.
// Who serves a route must not learn the secret.
func Referer(from, mount, base string) string {
	u, err := url.Parse(from)
	if err != nil {
		return ""
	}
	if rest, of := strings.CutPrefix(u.EscapedPath(), mount); of && (rest == "" || rest[0] == '/') {
		if u.RawQuery != "" {
			rest += "?" + u.RawQuery
		}
		from = base + rest
	}
	secret, below := segment(mount)
	if strings.Count(below, "/") < 2 {
		return from // the mount is under none
	}
	if plain, err := url.PathUnescape(from); err != nil || strings.Contains(plain, secret) {
		return ""
	}
	return from
}
