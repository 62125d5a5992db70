package client

import "github.com/lnkhq/lnk-sandbox/sandbox-route/form"

// Unwalled runs a program as it is, with no wall, under its proxy on this
// machine's loopback. Nothing holds the program to it.
type Unwalled struct {
	_ [0]func()

	// Name names it as a [Confinement]'s does.
	Name string `json:"name"`
	// Proxy is its proxy, whose Upstream is "direct". Its Dir, Serve and Hold
	// are unread.
	Proxy Proxy `json:"proxy"`
	// Pointed points the program at the proxy (HTTPS_PROXY, GIT_SSH_COMMAND);
	// without it the environment names its routes only.
	Pointed bool `json:"pointed"`
}

// Check judges the values of an Unwalled.
func (u Unwalled) Check() error {
	proxy := func() error {
		if u.Proxy.Upstream != "direct" {
			return form.At("upstream", form.Refuse("want direct: a program with no wall is not held to a proxy"))
		}
		return u.Proxy.checkUnwalled()
	}
	return form.First(form.At("name", form.Name(u.Name)), form.At("proxy", proxy()))
}

func unwalledShape(u *Unwalled) form.Shape {
	return form.Object(
		form.Required("name", form.String(&u.Name)),
		form.Required("proxy", proxyShape(&u.Proxy)),
		form.Required("pointed", form.Bool(&u.Pointed)),
	)
}
