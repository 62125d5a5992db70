package cli

import (
	"maps"
	"strconv"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/stages"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
)

// wayOf is what the proxy stage is told for a confinement whose network is one
// of its own with a way out, and that can be made. Without it, it is an error.
func wayOf(c client.Confinement, s setting) (proxyFlags, error) {
	f, err := wayTold(c, s)
	if err != nil {
		return f, err
	}
	if err := f.network().Check(); err != nil {
		return f, refuse("/confinement/net/%s: %v", f.Mode, err)
	}
	return f, nil
}

func wayTold(c client.Confinement, s setting) (proxyFlags, error) {
	switch mode := c.Net.Mode().(type) {
	case client.Proxied:
		return proxyFlagsOf(c, mode, s)
	case client.Loopback:
		// The judge's rules are nothing but the ports. There is no proxy inside:
		// the stage's listeners are those ports alone.
		f := plainWay(c, s, mode.Ports)
		f.Mode, f.NoInternet, f.Hosts = wayLoopback, true, nil
		return f, f.check()
	case client.Host:
		// All but this machine itself: what it is can be told by its address
		// only, which no rule of the kernel's sees when a name is called.
		f := plainWay(c, s, mode.Ports)
		f.Mode, f.AnyHost, f.LAN = wayHost, true, true
		return f, f.check()
	}
	return proxyFlags{}, refuse("/confinement/net: %s: it has no way out", modeName(c.Net.Mode()))
}

// plainWay is a way without a proxy inside.
func plainWay(c client.Confinement, s setting, ports []uint16) proxyFlags {
	return proxyFlags{
		Name: c.Name, Settings: s.dir, Upstream: defaultUpstream, Ports: ports, Terminal: c.Terminal, Tell: s.tell,
	}
}

// relayArgs is the stage that stays as the relay between a sandbox's network
// and the proxies that it reaches.
func relayArgs(mode client.Reaching, terminal bool, s setting) ([]string, error) {
	reached := make([]uint16, len(mode.Reached))
	for i, r := range mode.Reached {
		reached[i] = r.Port
	}
	if err := stages.RelayNetwork(reached, mode.Ports).Check(); err != nil {
		return nil, refuse("/confinement/net/reaching: %v", err)
	}
	a := []string{s.wall, "proxy-inside", "--own-network"}
	if terminal {
		a = append(a, "--terminal")
	}
	for _, r := range mode.Reached {
		a = append(a, "--also", r.Dir+"="+strconv.Itoa(int(r.Port)))
	}
	for _, p := range mode.Ports {
		a = append(a, "--port", strconv.Itoa(int(p)))
	}
	return append(a, "--"), nil
}

// holdChain is the proxy alone, reached by the sockets in its folder. The
// environment is that of a program in a sandbox that others start, which
// reaches it at listen.
func holdChain(c client.Confinement, mode client.Proxied, s setting) (chain, error) {
	f, err := proxyFlagsOf(c, mode, s)
	if err != nil {
		return chain{}, err
	}
	port := f.ProxyPort
	f.ProxyPort, f.Dir, f.Hold, f.Terminal = 0, mode.Proxy.Dir, true, false
	env := proxyVariables(port)
	env["GIT_SSH_COMMAND"] = sshBy(linuxwall.ProgramInside) // nothing is carried there
	maps.Copy(env, f.variables("http://127.0.0.1:"+strconv.Itoa(int(port))))
	return chain{argv: append([]string{s.self, "proxy"}, f.args()...), env: env, files: f.files(), hand: f.handed()}, nil
}
