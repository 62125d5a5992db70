package linuxwall

import (
	"errors"
	"fmt"
	"slices"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// NetFrom says where the program's network namespace comes from.
// The zero value is neither and is refused.
type NetFrom uint8

const (
	// Own is a network that the wall makes: nothing but a loopback of its own.
	Own NetFrom = iota + 1
	// Given is the network of the namespace that the wall is started in, made
	// by proxy-inside, which has set its rules and given up its capabilities.
	Given
	// Machine is this machine's own network, as the wall is started in it.
	// What is closed of it is unix sockets: those that have a path by the
	// wall's view, abstract ones by Landlock, where the kernel has its scopes.
	Machine
	// Handed is a Given one that is made with the sandbox: its sockets are
	// handed out to the proxy, which sets its rules. The wall is started on
	// this machine's network.
	Handed
)

// carried says whether a proxy carries what goes out of it.
func (n NetFrom) carried() bool { return n == Given || n == Handed }

// String gives the word of the --net flag.
func (n NetFrom) String() string {
	switch n {
	case Own:
		return "own"
	case Given:
		return "given"
	case Machine:
		return "machine"
	case Handed:
		return "handed"
	}
	return fmt.Sprintf("NetFrom(%d)", uint8(n))
}

// NetOf says where the network of a confinement comes from. A mode that this
// version cannot hold on Linux is refused, wrapping [errors.ErrUnsupported].
func NetOf(n client.Net) (NetFrom, error) {
	switch m := n.Mode().(type) {
	case client.Closed:
		return Own, nil
	case client.Proxied, client.Loopback, client.Reaching:
		return Given, nil
	case client.Host:
		if m.Localhost {
			return Machine, nil
		}
		return Given, nil // the machine's loopback is closed by not being there
	case nil:
		return 0, refuse("net", "", "no mode", nil)
	}
	return 0, refuse("net", n.ModeName(), "not a mode that this version knows", errors.ErrUnsupported)
}

// checkNet checks that a network comes from where the confinement's mode
// wants it. A confinement that [ParseArgs] read names a mode for [Own] alone:
// what else there is was decided by who made it.
func checkNet(c client.Confinement, net NetFrom) error {
	if net != Own && !net.carried() && net != Machine {
		return refuse("net", net.String(), "none of own, given, machine and handed", nil)
	}
	if c.Net.Mode() == nil {
		if net != Own {
			return nil
		}
		return refuse("net", "", "no mode", nil)
	}
	want, err := NetOf(c.Net)
	if err != nil {
		return err
	}
	if want != net && (want != Given || net != Handed) {
		return refuse("net", c.Net.ModeName(), fmt.Sprintf("wants a network that is %s, not %s", want, net), nil)
	}
	return nil
}

// closedPaths gives what a confinement closes: what hide names, and the
// folders of sockets by which others carry its network. The program has its
// way out by what was opened for it, not by those.
func closedPaths(c client.Confinement) []string {
	paths := slices.Clone(c.Hide)
	add := func(dir string) {
		if dir != "" && !slices.Contains(paths, dir) {
			paths = append(paths, dir)
		}
	}
	switch m := c.Net.Mode().(type) {
	case client.Proxied:
		add(m.Proxy.Dir)
	case client.Loopback:
		add(m.Dir)
	case client.Reaching:
		for _, r := range m.Reached {
			add(r.Dir)
		}
	}
	return paths
}
