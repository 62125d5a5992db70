package cli

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// given is what a run gives its program beside what the spec and the grants
// open: variables, and secrets that the proxy adds. It holds the secrets.
type given struct {
	env     map[string]string
	secrets []givenSecret
	models  []givenModel
}

// A givenSecret is a secret with the placeholder that this run made for it.
type givenSecret struct {
	client.Secret
	route       string // the route's name
	placeholder string
	// template is how git writes the header, {} for the placeholder; empty is
	// the placeholder alone.
	template string
}

// readGiven reads what --with-fd and --secret give, and adds the folders and
// ports among it to the grants.
func (f *runFlags) readGiven() (given, error) {
	g := given{env: map[string]string{}}
	if f.withFD != 0 {
		with, err := readWith(int(f.withFD))
		if err != nil {
			return given{}, err
		}
		g.env = with.Env
		for _, s := range with.Secrets {
			g.secrets = append(g.secrets, givenSecret{Secret: s})
		}
		f.write = append(f.write, with.Write...)
		for _, port := range with.Serve {
			if !slices.Contains(f.serve, uint(port)) {
				f.serve = append(f.serve, uint(port))
			}
		}
	}
	mine, err := f.secretsOfFlags()
	if err != nil {
		return given{}, err
	}
	g.secrets = append(g.secrets, mine...)
	if g.models, err = f.modelFlags.models(); err != nil {
		return given{}, err
	}
	if err := g.check(); err != nil {
		return given{}, withStatus(statusRefused, secretAsTyped(err, len(g.secrets)-len(mine)))
	}
	for i := range g.secrets {
		s := &g.secrets[i]
		s.route = g.routeName(i)
		s.placeholder = placeholderFor(s.Secret.Secret.Value)
	}
	return g, nil
}

// secretAsTyped says in the words of the command line what is refused of a secret
// that was asked for there, behind those that were handed.
func secretAsTyped(err error, handed int) error {
	var refused *form.Error
	if !errors.As(err, &refused) {
		return err
	}
	index, member, _ := strings.Cut(strings.TrimPrefix(refused.Pointer, "/secrets/"), "/")
	if i, notOne := strconv.Atoi(index); notOne != nil || i < handed {
		return err
	}
	switch member {
	case "placeholder", "url":
		return fmt.Errorf("--secret: %s: give the secret another name", refused.Problem)
	}
	return fmt.Errorf("--secret: %s", refused.Problem)
}

// readWith reads RunWith to the end of a descriptor, and closes it.
func readWith(fd int) (client.RunWith, error) {
	file := os.NewFile(uintptr(fd), "with-fd")
	if file == nil {
		return client.RunWith{}, refuse("--with-fd %d: not a descriptor", fd)
	}
	defer file.Close()
	if _, err := file.Stat(); err != nil {
		return client.RunWith{}, refuse("--with-fd %d: nothing is open there", fd)
	}
	with, err := client.ReadRunWith(file)
	if err != nil {
		return client.RunWith{}, withStatus(statusRefused, fmt.Errorf("--with-fd: %w", err))
	}
	return with, nil
}

// check judges all that is given together, as one RunWith, and what git cannot
// be told twice.
func (g given) check() error {
	all := client.RunWith{Env: g.env}
	git := map[string]bool{}
	for i, s := range g.secrets {
		all.Secrets = append(all.Secrets, s.Secret)
		host := gitHost(s.Secret.Secret.Host)
		if s.Git && git[host] {
			return form.At("secrets", form.AtIndex(i, form.At("git", form.Refuse(form.Quote(host)+": git is set up for this host already"))))
		}
		git[host] = git[host] || s.Git
	}
	return all.Check()
}

// routeName names a secret's route: by its host, and a number where that is
// taken or is no name.
func (g given) routeName(i int) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(g.secrets[:i], func(s givenSecret) bool { return s.route == name })
	}
	host, _, _ := strings.Cut(g.secrets[i].Secret.Secret.Host, ":")
	name := host
	if form.Name(name) != nil || len(name) > 50 {
		name, host = "secret", "secret"
	}
	for n := 2; taken(name); n++ {
		name = host + "-" + strconv.Itoa(n)
	}
	return name
}

// routes are the routes of the secrets and models.
func (g given) routes() []route.Route {
	var all []route.Route
	for _, s := range g.secrets {
		kind := s.Secret.Secret
		kind.Placeholder = s.placeholder
		all = append(all, route.Route{Name: s.route, Env: []string{s.URL}, Kind: kind})
	}
	for _, m := range g.models {
		all = append(all, m.Route)
	}
	return all
}

// into adds the secrets' routes to a confinement. Where it has no proxy it gets
// one that reaches nothing else.
func (g given) into(c client.Confinement, sockets string) (client.Confinement, error) {
	if len(g.secrets)+len(g.models) == 0 {
		return c, nil
	}
	p := client.Proxied{Proxy: client.Proxy{Upstream: defaultUpstream, Dir: sockets, Hosts: []string{}}}
	switch mode := c.Net.Mode().(type) {
	case client.Closed:
	case client.Loopback:
		p.Ports = mode.Ports
	case client.Proxied:
		p = mode
	default:
		return c, refuse("network.mode: %s: secrets and keys are added by a proxy, and it has none: use proxied", modeName(mode))
	}
	p.Proxy.Routes = slices.Concat(p.Proxy.Routes, g.routes())
	if err := route.CheckRoutes(p.Proxy.Routes, route.Beside{}); err != nil {
		return c, withStatus(statusRefused, fmt.Errorf("secrets: %w", err))
	}
	c.Net = client.NetOf(p)
	return c, nil
}

// environment gives the variables that the program gets beside those of env,
// which holds the addresses of the routes.
func (g given) environment(env map[string]string) (map[string]string, error) {
	all := maps.Clone(env)
	add := func(name, value string) error {
		if _, taken := all[name]; taken {
			return refuse("%s: the sandbox sets it itself", name)
		}
		all[name] = value
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(g.env)) {
		if err := add(name, g.env[name]); err != nil {
			return nil, err
		}
	}
	for _, m := range g.models {
		if err := add(m.variable, m.placeholder); err != nil {
			return nil, err
		}
	}
	var settings [][2]string
	for _, s := range g.secrets {
		if err := add(s.Placeholder, s.placeholder); err != nil {
			return nil, err
		}
		if s.Git {
			settings = append(settings, s.gitSettings(env[s.URL])...)
		}
	}
	for i, kv := range settings {
		n := strconv.Itoa(i)
		all["GIT_CONFIG_KEY_"+n], all["GIT_CONFIG_VALUE_"+n] = kv[0], kv[1]
	}
	if len(settings) > 0 {
		all["GIT_CONFIG_COUNT"] = strconv.Itoa(len(settings))
	}
	return all, nil
}

// gitSettings have git call the route where it is told the host, with the
// header that the placeholder stands in (git-config(1): url.<base>.insteadOf,
// http.<url>.extraHeader).
func (s givenSecret) gitSettings(address string) [][2]string {
	kind := s.Secret.Secret
	return [][2]string{
		{"url." + address + "/.insteadOf", "https://" + gitHost(kind.Host) + "/"},
		{"http." + address + "/.extraHeader", kind.Header + ": " + written(s.template, s.placeholder)},
	}
}

func gitHost(host string) string { return strings.TrimSuffix(host, ":443") }

// written gives a header's value by a template: {} is the secret, and what
// follows "Basic " is encoded as Basic credentials are (RFC 7617).
func written(template, secret string) string {
	if template == "" {
		return secret
	}
	scheme, rest, _ := strings.Cut(template, " ")
	if strings.EqualFold(scheme, "Basic") && strings.Contains(rest, ":") {
		return scheme + " " + base64.StdEncoding.EncodeToString([]byte(strings.ReplaceAll(rest, "{}", secret)))
	}
	return strings.ReplaceAll(template, "{}", secret)
}
