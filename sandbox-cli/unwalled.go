package cli

import (
	"crypto/rand"
	"maps"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// pointedBy is the one variable that carries the secret of a proxy on loopback.
const pointedBy = "HTTPS_PROXY"

// unwalledChain is the command that runs an argv as it is, under its proxy on
// this machine's loopback. Where no port is fixed its addresses have port 0,
// which the proxy fills in for the program.
func unwalledChain(u client.Unwalled, argv []string, s setting) (chain, error) {
	if runtime.GOOS != "linux" {
		return chain{}, refuse("%s: a proxy on loopback is not served on this system yet: run it on Linux", runtime.GOOS)
	}
	p := u.Proxy
	// This machine's loopback is everybody's, other users' and web pages' too:
	// every route is under the secret, whether or not it asks for that.
	p.Routes = slices.Clone(p.Routes)
	for i := range p.Routes {
		p.Routes[i].NeedsSecret = true
	}
	f := proxyFlags{
		Name: u.Name, Settings: s.dir, Upstream: p.Upstream, AnyHost: p.Hosts == nil, Hosts: p.Hosts, TCP: p.TCP,
		LAN: p.LAN, NoInternet: p.NoInternet, PerMinute: p.PerMinute, Tell: s.tell,
	}
	listen := uint16(0)
	if p.Listen != nil {
		listen = *p.Listen
	}
	f.Listen = &listen
	if u.Pointed {
		f.PointedBy = pointedBy
	}
	f.route(u.Name, p, s)
	if err := f.check(); err != nil {
		return chain{}, err
	}
	at := "127.0.0.1:" + strconv.Itoa(int(listen))
	env := f.variables("http://" + at)
	if u.Pointed {
		maps.Copy(env, pointing(at, s))
	}
	all := append([]string{s.self, "proxy"}, f.args()...)
	return chain{argv: append(append(all, "--"), argv...), env: env, files: f.files(), hand: f.handed()}, nil
}

// pointing are the variables that point a program at a proxy on loopback which
// wants a secret. One of them has it, so that it is in one place to read, to
// pass on and to take away: no HTTP_PROXY and no lower-case name beside it.
func pointing(at string, s setting) map[string]string {
	secret := s.secret
	if secret == nil {
		secret = rand.Text
	}
	address := url.URL{Scheme: "http", User: url.UserPassword("lnk", secret()), Host: at}
	return map[string]string{
		pointedBy:  address.String(),
		"NO_PROXY": noProxy, "no_proxy": noProxy,
		"NODE_USE_ENV_PROXY": "1",
		"GIT_SSH_COMMAND":    sshBy(s.self),
	}
}

// pointedAlone is an environment without what goes before the variable that
// points: curl, git, Python and others read the lower-case name first, and npm
// its own. What is inherited of these names another proxy.
func pointedAlone(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return name == strings.ToLower(pointedBy) || name == "npm_config_https_proxy"
	})
}

// sshBy has ssh call by the proxy: it knows of none itself, and its proxy
// command of no password. Ours, in the binary, reads the address where it is.
func sshBy(binary string) string {
	return "ssh -o ProxyCommand=" + shellWord(shellWord(binary)+" connect --by "+pointedBy+" %h %p")
}

// shellWord quotes a word for a shell.
func shellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// placeholder is what stands in an environment for the address of a proxy
// whose port is not known yet.
const placeholder = "127.0.0.1:0"

// filled is an environment with a proxy's port in every address that has the
// placeholder in it.
func filled(env []string, port uint16) []string {
	out := make([]string, len(env))
	for i, v := range env {
		out[i] = fill(v, port)
	}
	return out
}

// fill puts the port where the placeholder is a URL's host: behind // or the @
// of its user, and with nothing behind it that would make it another host.
func fill(v string, port uint16) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(v, placeholder)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		text := b.String()
		begins := strings.HasSuffix(text, "//") || strings.HasSuffix(text, "@")
		ends := after == "" || !strings.ContainsRune("0123456789.:@-_%abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", rune(after[0]))
		if begins && ends {
			b.WriteString("127.0.0.1:" + strconv.Itoa(int(port)))
		} else {
			b.WriteString(placeholder)
		}
		v = after
	}
}
