package proxy

import (
	"crypto/subtle"
	"encoding/base64"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// checkSecret holds a request to the proxy's password: Basic, any user. What is
// compared takes the same time whatever of it is right.
func (p *Proxy) checkSecret(by judge.By, h *head, to authority) *Refusal {
	if p.config.Secret == "" {
		return nil
	}
	if len(h.auth) == 1 {
		scheme, rest, _ := strings.Cut(h.auth[0], " ")
		said, err := base64.StdEncoding.DecodeString(strings.TrimLeft(rest, " "))
		_, password, ok := strings.Cut(string(said), ":")
		if strings.EqualFold(scheme, "Basic") && err == nil && ok &&
			subtle.ConstantTimeCompare([]byte(password), []byte(p.config.Secret)) == 1 {
			return nil
		}
	}
	d := judge.Decision{Host: judge.Shown(to.host), Port: to.port}
	r := p.refuse(by, d, Forbidden, "the proxy's password is wrong or missing")
	p.tell(r)
	return r
}
