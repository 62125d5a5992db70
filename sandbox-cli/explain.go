package cli

import (
	"fmt"
	"io"
	"strings"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// explainChain prints what the sandbox of a request would be: the network, then
// the wall's plan on this machine, a line a step with its reason.
func explainChain(w io.Writer, c client.Confinement, argv []string, set setting) error {
	fmt.Fprintln(w, "# network")
	for _, line := range explainNet(c) {
		fmt.Fprintln(w, oneLine(line))
	}
	plan, err := planFor(c, argv, set)
	if err != nil {
		return withStatus(statusRefused, err)
	}
	fmt.Fprintln(w, "# wall")
	for line := range strings.Lines(plan.Explain()) {
		if strings.HasPrefix(line, "net ") {
			continue // said above
		}
		fmt.Fprintln(w, oneLine(strings.TrimRight(line, "\n")))
	}
	return nil
}

func explainNet(c client.Confinement) []string {
	mode, proxied := c.Net.Mode().(client.Proxied)
	if !proxied {
		return explainOther(c.Net.Mode())
	}
	p := mode.Proxy
	lines := []string{"a network of its own; the proxy is the only way out, at 127.0.0.1:" + fmt.Sprint(proxyPortOf(mode)) + " or by any connection"}
	lines = append(lines, "reaches "+reached(mode))
	if len(p.Serve) > 0 {
		lines = append(lines, "serves "+servedPorts(p.Serve))
	}
	if p.LAN {
		lines = append(lines, "reaches addresses that are not the internet's too")
	}
	if p.PerMinute > 0 {
		lines = append(lines, fmt.Sprintf("at most %d new calls a minute", p.PerMinute))
	}
	if kind, _, _ := strings.Cut(p.Upstream, "://"); p.Upstream != defaultUpstream && p.Upstream != "" {
		lines = append(lines, "through an upstream of kind "+kind)
	}
	return lines
}
