package cli

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

func newWhy(s Streams) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "why [flags] <url | host[:port] | path>",
		Short: "Say whether a sandbox would reach a host or open a path, and what would open it",
		Long: `why asks the same judge and the same plan that a run with these flags asks, and
starts nothing. It resolves no name: whether an allowed name has an address that
is refused shows when it is called. That sandboxes are stopped or paused just now
is told beside the answer, of a host. Exit status 0: open; 1: closed.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return noAnswer(f.wayAsTyped(why(s, f, args[0]))) },
	}
	f.grants(cmd.Flags())
	return cmd
}

func why(s Streams, f runFlags, ask string) error {
	set, err := readSetting()
	if err != nil {
		return err
	}
	c, err := confinementOf(f, set, false)
	if err != nil {
		return err
	}
	var open bool
	var line string
	path, isPath := pathAsked(ask)
	if isPath {
		open, line, err = whyPath(c, set, path)
	} else {
		open, line, err = whyHost(c, set, ask)
	}
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(s.Out, oneLine(line)); err != nil {
		return fmt.Errorf("the answer could not be written: %w", err)
	}
	if !isPath {
		for _, held := range heldNow(client.SettingsFolder(set.dir)) {
			complainLine(s.Err, "why", held)
		}
	}
	if !open {
		return silentStatus(1)
	}
	return nil
}

// pathAsked tells a path from a host: it starts with / or a dot, or with ~/, or
// something is there by that name, or it goes on behind a name that is no host
// of the internet (src/main.c, where db:5432/x is one).
func pathAsked(ask string) (string, bool) {
	first, _, deeper := strings.Cut(ask, "/")
	switch {
	case ask == "~", strings.HasPrefix(ask, "~/"):
		home, err := homeFolder()
		return filepath.Join(home, ask[1:]), err == nil
	case strings.HasPrefix(ask, "/"):
		return filepath.Clean(ask), true
	case ask == "", strings.Contains(ask, "://"):
		return "", false
	}
	_, err := os.Lstat(ask)
	if err != nil && !strings.HasPrefix(ask, ".") && (!deeper || first == "localhost" || strings.ContainsAny(first, ".:@[")) {
		return "", false
	}
	cwd, err := os.Getwd()
	return filepath.Join(cwd, ask), err == nil
}

// portOf are the ports of addresses that name none (the services registry of
// IANA); an address of another kind has to name one.
var portOf = map[string]string{
	"https": "443", "http": "80", "wss": "443", "ws": "80", "ssh": "22", "git": "9418", "git+ssh": "22",
	"ftp": "21", "smtp": "25", "imap": "143", "imaps": "993", "ldap": "389", "ldaps": "636",
	"postgres": "5432", "postgresql": "5432", "mysql": "3306", "redis": "6379", "rediss": "6379",
	"mongodb": "27017", "amqp": "5672", "amqps": "5671", "nats": "4222",
}

// gitAddress is user@host:path, what stands behind the colon being no port
// (git-clone(1), GIT URLS).
var gitAddress = regexp.MustCompile(`^([^:/@]+@[^:/@]+):(?:[^0-9/]|[0-9]+[^0-9/]|/[^/])`)

// hostAsked reads a URL, host:port or host, or git's user@host:path; a host
// alone means port 443.
func hostAsked(ask string) (host string, port uint16, err error) {
	address := ask
	if m := gitAddress.FindStringSubmatch(ask); m != nil {
		address = "ssh://" + m[1] + "/"
	} else if !strings.Contains(ask, "://") {
		address = "https://" + ask
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return "", 0, refuse("%q: want a URL, host[:port], or a path that starts with / or ./", ask)
	}
	number := u.Port()
	if number == "" {
		number = portOf[u.Scheme]
	}
	if number == "" {
		return "", 0, refuse("%q: it names no port, and %s: has none that is known: write host:port", ask, u.Scheme)
	}
	if port, err = judge.ParsePort(number); err != nil {
		return "", 0, refuse("%q: want a port of 1 to 65535", ask)
	}
	return u.Hostname(), port, nil
}

func whyHost(c client.Confinement, set setting, ask string) (bool, string, error) {
	host, port, err := hostAsked(ask)
	if err != nil {
		return false, "", err
	}
	switch mode := c.Net.Mode().(type) {
	case client.Closed:
		return whyClosed(host, port)
	case client.Host:
		if mode.Localhost {
			return true, fmt.Sprintf("open     %s:%d: the network is this machine's", host, port), nil
		}
	}
	flags, err := wayOf(c, set)
	if err != nil {
		return false, "", err
	}
	j, err := flags.judge(judge.Machine())
	if err != nil {
		return false, "", err
	}
	d := j.Rule(judge.Call{By: judge.ByConnect, Host: host, Port: port})
	if d.Allowed {
		return true, "open     " + d.Target(), nil
	}
	return false, fmt.Sprintf("refused  %s: %s", d.Target(), d.Detail) + toOpen(opens(flags.Mode, d.Open)), nil
}

// whyClosed says what would open a call where there is no network: what would
// where there is one that names nothing.
func whyClosed(host string, port uint16) (bool, string, error) {
	j, err := judge.New(judge.Rules{Hosts: []string{}}, judge.Machine())
	if err != nil {
		return false, "", err
	}
	d := j.Rule(judge.Call{By: judge.ByConnect, Host: host, Port: port})
	detail := d.Detail
	if d.Open.Flag != "" {
		detail = "there is no network"
	}
	return false, fmt.Sprintf("refused  %s: %s", d.Target(), detail) + toOpen(d.Open), nil
}
