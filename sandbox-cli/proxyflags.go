package cli

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/inside"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes"
)

// proxyFlags is what the proxy stage is told: one flag a fact, so that `ps`
// shows what a sandbox may reach. It holds no secret.
type proxyFlags struct {
	Name       string
	Settings   string
	Upstream   string // as the contract has it; with credentials it is in a file instead
	AnyHost    bool   // no list of hosts: any host of the internet
	Hosts      []string
	TCP        []string
	Ports      []uint16 // of this machine's loopback
	LAN        bool
	NoInternet bool
	PerMinute  int
	ProxyPort  uint16 // inside
	Terminal   bool
	Tell       bool
	Learn      bool // every host of the internet, and what was called is told at the end
	wayFlags
	command    []string // what is started behind the proxy
	upstreamIn string   // the file that holds an upstream with credentials
	routed
}

const defaultUpstream = "direct"

func (f *proxyFlags) check() error {
	if f.Upstream == "" {
		f.Upstream = defaultUpstream
	}
	if _, err := proxy.ParseUpstream(f.Upstream); err != nil {
		return refuse("/confinement/net/proxied/proxy/upstream: %v", err)
	}
	if secretUpstream(f.Upstream) {
		f.upstreamIn = filepath.Join(f.Settings, "sandbox", f.Name+".upstream")
	}
	if err := f.checkServe(); err != nil {
		return err
	}
	_, err := f.judge(judge.Machine())
	return err
}

// network is what the sandbox's own is made with, but for the destinations that
// are carried.
func (f proxyFlags) network() inside.Want {
	return inside.Want{ProxyPort: f.ProxyPort, Ports: f.Ports, Sockets: len(f.Serve) > 0}
}

// A routeHostError is the host of a route that cannot be one.
type routeHostError struct {
	*judge.RuleError
	member string // where among the routes it stands: 1/secret/host
}

func (e routeHostError) Unwrap() error { return e.RuleError }

// judge makes the judge that these flags ask for.
func (f proxyFlags) judge(system judge.System) (*judge.Judge, error) {
	hosts := f.Hosts
	if f.AnyHost || f.Learn {
		hosts = nil
	} else if hosts == nil {
		hosts = []string{} // none listed: none reached
	}
	j, err := judge.New(judge.Rules{
		Hosts: hosts, TCP: f.TCP, Ports: f.Ports, LAN: f.LAN, NoInternet: f.NoInternet, AnyPort: f.Mode == wayHost || f.Learn,
		Routes: routes.Hosts(f.mounts.Routes),
	}, system)
	var rule *judge.RuleError
	if errors.As(err, &rule) && rule.Member == "routes" {
		err = routeHostError{rule, routes.HostMember(f.mounts.Routes, rule.Index)}
	}
	if err != nil {
		return nil, withStatus(statusRefused, err)
	}
	return j, nil
}

// files is what the argv must not hold: an upstream with its credentials.
func (f proxyFlags) files() map[string]string {
	files := f.routed.files()
	if f.upstreamIn != "" {
		files[f.upstreamIn] = f.Upstream + "\n"
	}
	return files
}

// maxUpstream bounds the file that holds an upstream, in bytes.
const maxUpstream = 64 << 10

// upstream is the upstream, read from its file where it is in one.
func (f proxyFlags) upstream() (string, error) {
	if f.upstreamIn == "" {
		return f.Upstream, nil
	}
	file, err := os.Open(f.upstreamIn)
	if err != nil {
		return "", fmt.Errorf("upstream: %w", err)
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxUpstream))
	if err != nil {
		return "", fmt.Errorf("upstream: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// secretUpstream says whether the upstream carries credentials, which must not
// stand in an argv.
func secretUpstream(upstream string) bool {
	u, err := url.Parse(upstream)
	return err == nil && u.User != nil
}

func (f proxyFlags) args() []string {
	a := []string{"--settings", f.Settings, "--name", f.Name}
	if f.ProxyPort != 0 {
		a = append(a, "--proxy-port", strconv.Itoa(int(f.ProxyPort)))
	}
	if f.upstreamIn != "" {
		a = append(a, "--upstream-in", f.upstreamIn)
	} else {
		a = append(a, "--upstream", f.Upstream)
	}
	if f.AnyHost {
		a = append(a, "--any-host")
	}
	for _, h := range f.Hosts {
		a = append(a, "--host", h)
	}
	for _, t := range f.TCP {
		a = append(a, "--tcp", t)
	}
	for _, p := range f.Ports {
		a = append(a, "--port", strconv.Itoa(int(p)))
	}
	for _, b := range []struct {
		flag string
		on   bool
	}{{"--lan", f.LAN}, {"--no-internet", f.NoInternet}, {"--terminal", f.Terminal}, {"--tell", f.Tell}, {"--learn", f.Learn}} {
		if b.on {
			a = append(a, b.flag)
		}
	}
	if f.PerMinute > 0 {
		a = append(a, "--per-minute", strconv.Itoa(f.PerMinute))
	}
	return append(append(a, f.wayFlags.args()...), f.routed.args()...)
}

// A proxyHelp is what is printed to who asks the stage for its flags.
type proxyHelp struct{ flags string }

func (h proxyHelp) Error() string {
	return `proxy is one sandbox's proxy: "lnk sandbox run" starts it, and the commands that
"lnk sandbox wrap" prints are made of it. By hand it is of use alone, reached by
the sockets of a folder: lnk sandbox proxy --dir <folder> --hold --host <host>.

Usage:
  lnk sandbox proxy [flags] (--hold | -- <command>)

Flags:
` + h.flags
}

// parseProxyFlags reads what args wrote, up to "--", and gives the rest.
func parseProxyFlags(args []string) (proxyFlags, []string, error) {
	var f proxyFlags
	var ports []uint
	var port uint
	set := pflag.NewFlagSet("proxy", pflag.ContinueOnError)
	set.SetInterspersed(false)
	set.Usage = func() {}
	set.StringVar(&f.Settings, "settings", "", "the settings folder")
	set.StringVar(&f.Name, "name", "", "the sandbox's name")
	set.StringVar(&f.Upstream, "upstream", "", "direct, or http://, https:// or socks5:// host:port")
	set.StringVar(&f.upstreamIn, "upstream-in", "", "the file that holds the upstream")
	set.BoolVar(&f.AnyHost, "any-host", false, "any host of the internet")
	set.StringArrayVar(&f.Hosts, "host", nil, "a host that is reached")
	set.StringArrayVar(&f.TCP, "tcp", nil, "host:port reached with any protocol")
	set.UintSliceVar(&ports, "port", nil, "a port of this machine's loopback")
	set.BoolVar(&f.LAN, "lan", false, "addresses that are not the internet's too")
	set.BoolVar(&f.NoInternet, "no-internet", false, "nothing but ports")
	set.IntVar(&f.PerMinute, "per-minute", 0, "new calls a minute")
	set.UintVar(&port, "proxy-port", 0, "where the proxy is reached inside")
	set.BoolVar(&f.Terminal, "terminal", false, "the program keeps the terminal")
	set.BoolVar(&f.Tell, "tell", false, "refusals are told on standard error")
	set.BoolVar(&f.Learn, "learn", false, "every host of the internet is reached, and what was called is told at the end")
	f.routed.flags(set)
	way := f.register(set)
	if err := set.Parse(args); errors.Is(err, pflag.ErrHelp) {
		return f, nil, proxyHelp{set.FlagUsages()}
	} else if err != nil {
		return f, nil, err
	}
	if !set.Changed("settings") {
		dir, err := client.Settings()
		if err != nil {
			return f, nil, err
		}
		f.Settings = string(dir)
	}
	if !filepath.IsAbs(f.Settings) {
		return f, nil, fmt.Errorf("--settings %q: want an absolute path", f.Settings)
	}
	if set.ArgsLenAtDash() > 0 || set.ArgsLenAtDash() < 0 && set.NArg() > 0 {
		return f, nil, fmt.Errorf("%q: want -- and the command behind it", set.Arg(0))
	}
	var err error
	if f.Ports, err = portsOf("--port", ports); err != nil {
		return f, nil, err
	}
	if err := f.takeWay(way); err != nil {
		return f, nil, err
	}
	if port > 65535 || port == 0 && f.Mode == wayProxied && !f.outside() {
		return f, nil, fmt.Errorf("--proxy-port %d: want 1 to 65535", port)
	}
	f.ProxyPort = uint16(port)
	return f, set.Args(), nil
}
