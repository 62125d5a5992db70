package cli

import (
	"fmt"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// explainOther says what a network opens that has no proxy inside.
func explainOther(mode client.NetMode) []string {
	switch mode := mode.(type) {
	case client.Loopback:
		return []string{"a network of its own", "reaches " + listed(ofThisMachine(mode.Ports), "nothing")}
	case client.Host:
		if mode.Localhost {
			return []string{"the network of this machine, its loopback too"}
		}
		return []string{
			"a network of its own, carried: TCP and names, no UDP",
			"reaches " + listed(append([]string{"any address but this machine's own"}, ofThisMachine(mode.Ports)...), ""),
		}
	case client.Reaching:
		var reached []string
		for _, r := range mode.Reached {
			reached = append(reached, fmt.Sprintf("the proxy in %s at 127.0.0.1:%d", r.Dir, r.Port))
		}
		return []string{"a network of its own", "reaches " + listed(append(reached, ofThisMachine(mode.Ports)...), "")}
	}
	return []string{"closed: a network of its own with an empty loopback"}
}

func ofThisMachine(ports []uint16) []string {
	var parts []string
	for _, port := range ports {
		parts = append(parts, fmt.Sprintf("port %d of this machine", port))
	}
	return parts
}

// servedPorts says which ports inside this machine can call.
func servedPorts(ports []uint16) string {
	var parts []string
	for _, port := range ports {
		parts = append(parts, fmt.Sprintf("its port %d to all on this machine", port))
	}
	return listed(parts, "nothing")
}
