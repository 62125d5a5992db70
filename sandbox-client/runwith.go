package client

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// RunWith is what lnk sandbox run --with-fd reads to the end of that
// descriptor: what it gives the program beside its spec. It holds secrets.
type RunWith struct {
	_ [0]func()

	// Env are variables the program gets: none that run keeps or sets, and
	// none that makes a program load or run other code (route.RefusedVariable).
	Env map[string]string `json:"env"`
	// Secrets are added by the proxy towards their hosts.
	Secrets []Secret `json:"secrets"`
	// Serve are ports served on this machine's loopback too, 1 to 65535.
	Serve []uint16 `json:"serve"`
	// Write are folders written beside the spec's, absolute and clean, each
	// refused as a spec's write would be: see [Base.CheckWrite].
	Write []string `json:"write"`
}

// Secret is a secret that run gives a route of its own.
type Secret struct {
	_ [0]func()

	// Secret is the route's, its placeholder left out: run makes one.
	Secret route.Secret `json:"secret"`
	// URL is the variable that holds the route's address.
	URL string `json:"url"`
	// Placeholder is the variable that holds the placeholder.
	Placeholder string `json:"placeholder"`
	// Git sets git up, by GIT_CONFIG_ variables, to reach the host by the
	// route; for a secret in a header.
	Git bool `json:"git,omitzero"`
}

// ReadRunWith reads and judges what a run is given.
func ReadRunWith(r io.Reader) (RunWith, error) { return read(r, runWithShape) }

// WriteRunWith judges what a run is given and writes it.
func WriteRunWith(w io.Writer, v RunWith) error { return write(w, v) }

// Check judges the values. Whether the folders may be written is for
// [Base.CheckWrite].
func (v RunWith) Check() error {
	set := map[string]bool{}
	for name := range v.Env {
		set[name] = true
	}
	git := v.gitConfigured()
	secrets := form.Each(v.Secrets, func(s Secret) error { return s.check(set, git) })
	return form.First(
		form.At("env", v.checkEnv()),
		form.At("secrets", secrets),
		form.At("serve", form.DistinctPorts(v.Serve)),
		form.At("write", form.Each(v.Write, form.Path)),
	)
}

func (v RunWith) checkEnv() error {
	for _, name := range slices.Sorted(maps.Keys(v.Env)) {
		if why := route.RefusedVariable(name); why != "" {
			return form.At(name, form.Refuse(why))
		}
		if err := form.Argument(v.Env[name]); err != nil {
			return form.At(name, err)
		}
	}
	return nil
}

// gitConfigured gives the first variable of the caller's that configures git.
func (v RunWith) gitConfigured() string {
	for _, name := range slices.Sorted(maps.Keys(v.Env)) {
		if strings.HasPrefix(name, "GIT_CONFIG_") {
			return name
		}
	}
	return ""
}

// check judges one entry; set holds the variables that are taken, and gets its
// own.
func (s Secret) check(set map[string]bool, git string) error {
	variable := func(name string) error {
		if why := route.RefusedVariable(name); why != "" {
			return form.Refuse(form.Quote(name) + ": " + why)
		}
		if strings.HasPrefix(name, "GIT_CONFIG_") {
			return form.Refuse(form.Quote(name) + ": git reads its settings from it")
		}
		if set[name] {
			return form.Refuse(form.Quote(name) + ": set twice")
		}
		set[name] = true
		return nil
	}
	secret := s.Secret.CheckHanded()
	if secret == nil && s.Secret.Placeholder != "" {
		secret = form.At("placeholder", form.Refuse("run makes it, leave it out"))
	}
	configures := func() error {
		switch {
		case s.Git && s.Secret.Header == "":
			return form.Refuse("only for a secret in a header")
		case s.Git && git != "":
			return form.Refuse("not beside " + git + " in env, which sets git up too")
		}
		return nil
	}
	return form.First(
		form.At("secret", secret),
		form.At("url", variable(s.URL)),
		form.At("placeholder", variable(s.Placeholder)),
		form.At("git", configures()),
	)
}

func runWithShape(v *RunWith) form.Shape {
	return form.Object(
		form.Required("env", form.Map(&v.Env, form.String)),
		form.Required("secrets", form.List(&v.Secrets, secretShape)),
		form.Required("serve", form.Ports(&v.Serve)),
		form.Required("write", form.Strings(&v.Write)),
	)
}

func secretShape(s *Secret) form.Shape {
	return form.Object(
		form.Required("secret", route.HandedSecretShape(&s.Secret)),
		form.Required("url", form.String(&s.URL)),
		form.Required("placeholder", form.String(&s.Placeholder)),
		form.Optional("git", form.Bool(&s.Git)),
	)
}
