package cli

import (
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// wayOf is what the proxy stage is told for a confinement whose network is one
// of its own with a way out. Without it, it is an error.
func wayOf(c client.Confinement, s setting) (proxyFlags, error) {
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
