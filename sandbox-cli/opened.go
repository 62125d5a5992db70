package cli

import (
	"bufio"
	"fmt"
	"io"
	"net/url"
	"strings"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// maxAnswer bounds what is read of a person's answer, in bytes.
const maxAnswer = 64

// limited reads at most n bytes, one at a time, so that what a person typed
// ahead stays for the program.
type limited struct {
	r io.Reader
	n int
}

func (l *limited) Read(p []byte) (int, error) {
	if l.n == 0 || len(p) == 0 {
		return 0, io.EOF
	}
	l.n--
	return l.r.Read(p[:1])
}

// answeredYes reads one line and says whether it is a yes.
func answeredYes(r io.Reader) bool {
	answer, err := bufio.NewReader(&limited{r, maxAnswer}).ReadString('\n')
	a := strings.ToLower(strings.TrimSpace(answer))
	return err == nil && (a == "y" || a == "yes")
}

// opened says what a confinement opens, a line a member.
func opened(c client.Confinement) []string {
	lines := []string{"writes " + listed(c.Write, "nothing")}
	if len(c.WriteDotFiles) > 0 {
		lines = append(lines, "writes the dot files of "+listed(c.WriteDotFiles, ""))
	}
	reads := c.Read
	if c.ReadHome {
		reads = append([]string{"the home folder"}, reads...)
	}
	lines = append(lines, "reads "+listed(reads, "system folders only"))
	if len(c.Hide) > 0 {
		lines = append(lines, "hides "+listed(c.Hide, ""))
	}
	if only, restricted := c.Commands.Only(); restricted {
		lines = append(lines, "executes only "+listed(only, "nothing"))
	}
	switch mode := c.Net.Mode().(type) {
	case client.Proxied:
		lines = append(lines, "reaches "+reached(mode))
		lines = append(lines, usedRoutes(mode.Proxy.Routes)...)
		if len(mode.Proxy.Serve) > 0 {
			lines = append(lines, "serves "+servedPorts(mode.Proxy.Serve))
		}
		lines = append(lines, ranOutside(mode.Proxy.Routes)...)
	case client.Closed:
		lines = append(lines, "reaches no network")
	default:
		lines = append(lines, explainOther(mode)...)
	}
	return lines
}

func reached(mode client.Proxied) string {
	p := mode.Proxy
	var parts []string
	switch {
	case p.NoInternet:
	case p.Hosts == nil:
		parts = append(parts, "any host of the internet")
	default:
		parts = append(parts, rulesWritten(p.Hosts)...)
	}
	if !p.NoInternet {
		parts = append(parts, rulesWritten(p.TCP)...)
	}
	parts = append(parts, ofThisMachine(mode.Ports)...)
	return listed(append(parts, servers(p.Routes)...), "no host")
}

// rulesWritten are rules in the one form in which what only looks like another shows.
func rulesWritten(rules []string) []string {
	out := make([]string, len(rules))
	for i, rule := range rules {
		out[i] = judge.Written(rule)
	}
	return out
}

// servers are what routes carry to a server.
func servers(all []route.Route) []string {
	var parts []string
	for _, r := range all {
		switch k := r.Kind.(type) {
		case route.LocalModel:
			parts = append(parts, fmt.Sprintf("the model server at port %d of this machine", k.Port))
		case route.Model:
			if at, err := url.Parse(k.Upstream); err == nil { // some put keys in its path
				parts = append(parts, "the model at "+at.Host+" with a key that stays outside")
			}
		case route.Bridge:
			parts = append(parts, "the plugin at "+k.Socket)
		}
	}
	return parts
}

func listed(items []string, none string) string {
	if len(items) == 0 {
		return none
	}
	return strings.Join(items, ", ")
}
