package cli

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/shim"
	"github.com/lnkhq/lnk-sandbox/sandbox-cli/stages"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
)

// A chain is the command that runs an argv confined, and what to add to its
// environment. It is made without a look at the machine: what exists, which
// links there are and what can make a sandbox is looked at when it starts.
type chain struct {
	argv  []string
	env   map[string]string
	files map[string]string // what must stand in no argv: path -> text
	hand  route.Mounts      // what the proxy is handed on a pipe
}

// A setting is what a chain needs beside the confinement: where our own binary
// and the settings are, the home folder, and what is reported to whom.
type setting struct {
	self string // absolute path of lnk-sandbox
	wall string // of the program that runs the steps behind the proxy
	home string // the user's home folder
	dir  string // the settings folder
	tell bool   // refusals are told on standard error, as `run` does
	// learn lets every host of the internet be called, as run --learn does.
	learn  bool
	hand   bool          // routes are handed on a pipe, as `run` does, and not in a file
	limits client.Limits // what the program may use; a confinement does not say
	// bubblewrap has it make the sandbox, though the kernel may let us.
	bubblewrap bool
	// system reads the proxies that are set on this machine.
	system func() (proxy.SystemProxies, error)
	// secret makes a secret of letters and digits; nil is a random one.
	secret func() string
	// kept gives the URL secret that wrap made for a sandbox's name before, or
	// ""; nil gives none.
	kept func(name string) string
}

// firstProxyPort is where the proxy is reached inside, on the loopback of the
// sandbox's own network: the first port from here on that the confinement does
// not use itself. The number is free of any registered service (IANA, 2026).
const firstProxyPort = 19190

// chainOf makes the chain for a confinement. The same request gives the same
// chain.
func chainOf(c client.Confinement, argv []string, s setting) (chain, error) {
	if runtime.GOOS != "linux" {
		return chain{}, refuse("%s: nothing is enforced on this system yet: run it on Linux", runtime.GOOS)
	}
	wall := append([]string{s.wall, "wall", "--settings", s.dir, "--home", s.home}, stages.MakerArgs(s.bubblewrap)...)
	wall = append(wall, stages.LimitArgs(s.limits)...)
	// Also where it is the system's: the caller's own TMPDIR may not be in view.
	env := map[string]string{"TMPDIR": cmp.Or(linuxwall.TmpDir(c), "/tmp")}
	switch mode := c.Net.Mode().(type) {
	case client.Closed:
		wall = append(wall, linuxwall.Args(c, linuxwall.Own)...)
		return chain{argv: append(wall, argv...), env: env}, nil
	case client.Proxied, client.Loopback, client.Host:
		if way, is := mode.(client.Proxied); is && way.Proxy.Hold {
			return holdChain(c, way, s)
		}
		if host, is := mode.(client.Host); is && host.Localhost {
			wall = append(wall, linuxwall.Args(c, linuxwall.Machine)...)
			return chain{argv: append(wall, argv...), env: env}, nil
		}
		flags, err := wayOf(c, s)
		if err != nil {
			return chain{}, err
		}
		names := namesInside(flags.mounts.Routes)
		wall = append(append(wall, stages.NameArgs(names)...), linuxwall.Args(c, linuxwall.Given)...)
		all := append([]string{s.self, "proxy"}, flags.args()...)
		all = append(append(append(all, "--"), wall...), argv...)
		if flags.ProxyPort != 0 {
			for name, value := range proxyVariables(flags.ProxyPort) {
				env[name] = value
			}
		}
		if slices.Contains(names, shim.OpenName) {
			env[route.BrowserVariable] = linuxwall.NamesInside + "/" + shim.OpenName
		}
		maps.Copy(env, flags.variables("http://127.0.0.1:"+strconv.Itoa(int(flags.ProxyPort))))
		return chain{argv: all, env: env, files: flags.files(), hand: flags.handed()}, nil
	case client.Reaching:
		wall = append(wall, linuxwall.Args(c, linuxwall.Given)...)
		relay, err := relayArgs(mode, c.Terminal, s)
		return chain{argv: append(append(relay, wall...), argv...), env: env}, err
	case nil:
		return chain{}, refuse("/confinement/net: missing")
	default:
		return chain{}, refuse("/confinement/net: %s: cannot be enforced by this version: use closed or proxied", modeName(mode))
	}
}

func modeName(m client.NetMode) string {
	switch m.(type) {
	case client.Loopback:
		return "loopback"
	case client.Reaching:
		return "reaching"
	case client.Host:
		return "host"
	}
	return fmt.Sprintf("%T", m)
}

// proxyFlagsOf reads what the proxy stage is told from the confinement, and
// refuses what this version does not enforce.
func proxyFlagsOf(c client.Confinement, mode client.Proxied, s setting) (proxyFlags, error) {
	p := mode.Proxy
	f := proxyFlags{
		Name:       c.Name,
		Settings:   s.dir,
		Upstream:   p.Upstream,
		AnyHost:    p.Hosts == nil,
		Hosts:      p.Hosts,
		TCP:        p.TCP,
		LAN:        p.LAN,
		NoInternet: p.NoInternet,
		PerMinute:  p.PerMinute,
		Ports:      mode.Ports,
		ProxyPort:  proxyPortOf(mode),
		wayFlags:   wayFlags{Mode: wayProxied, Serve: p.Serve},
		Terminal:   c.Terminal,
		Tell:       s.tell,
		Learn:      s.learn,
	}
	f.route(c.Name, p, s)
	if err := f.fromSystem(s.system); err != nil {
		return f, err
	}
	return f, f.check()
}

// proxyPortOf is the port inside that the proxy gets: the one that listen
// names, else the first that is not one of the sandbox's own.
func proxyPortOf(mode client.Proxied) uint16 {
	if at := mode.Proxy.Listen; at != nil && *at != 0 {
		return *at
	}
	port := uint16(firstProxyPort)
	for slices.Contains(mode.Ports, port) || slices.Contains(mode.Proxy.Serve, port) {
		port++
	}
	return port
}

// noProxy are loopback's spellings: the sandbox's own servers are called
// without the proxy. Clients differ in what they match, so each form is there but
// those in brackets: httpx, by which most models are asked from Python, fails on
// one before it calls anything. The proxy sends on who looks for brackets.
var noProxy = strings.Join([]string{"localhost", ".localhost", "localhost.", "127.0.0.1", "127.0.0.0/8", "::1", "0.0.0.0", "::"}, ",")

// hostname is what the machine is called inside.
const hostname = "lnk"

// noProxyInside are the names too that only the sandbox's own loopback has.
var noProxyInside = strings.Join([]string{noProxy, hostname, "ip6-localhost", "ip6-loopback"}, ",")

// proxyVariables point programs at the proxy. No ALL_PROXY: tools that lack
// SOCKS fail on it, and everything else is carried without.
func proxyVariables(port uint16) map[string]string {
	url := "http://127.0.0.1:" + strconv.Itoa(int(port))
	return map[string]string{
		"HTTP_PROXY": url, "http_proxy": url,
		"HTTPS_PROXY": url, "https_proxy": url,
		"NO_PROXY": noProxyInside, "no_proxy": noProxyInside,
		// What a caller has of these names a proxy that is not to be reached
		// from inside, and goes before the rest: some libraries fail on an
		// ALL_PROXY that they would not use, and npm believes its own. An empty
		// ALL_PROXY is one that the wall takes out.
		"ALL_PROXY": "", "all_proxy": "",
		"npm_config_proxy": url, "npm_config_https_proxy": url,
		// Node's fetch reads the variables only with this (Node 22.21, 24).
		"NODE_USE_ENV_PROXY": "1",
	}
}
