package cli

import (
	"bufio"
	"io"
	"strings"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
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
		if len(mode.Proxy.Serve) > 0 {
			lines = append(lines, "serves "+servedPorts(mode.Proxy.Serve))
		}
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
		parts = append(parts, p.Hosts...)
	}
	if !p.NoInternet {
		parts = append(parts, p.TCP...)
	}
	parts = append(parts, ofThisMachine(mode.Ports)...)
	return listed(parts, "no host")
}

func listed(items []string, none string) string {
	if len(items) == 0 {
		return none
	}
	return strings.Join(items, ", ")
}
