package client

import (
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// Proxy is a proxied sandbox's way out. The proxy reads all of it; the wrap
// reads Listen, Routes, Secret and Hold too, for the environment. Ports are 1 to
// 65535 and named once.
type Proxy struct {
	_ [0]func()

	// Upstream is where calls go: "direct", "system" (this machine's own proxy
	// settings), or http://, https:// or socks5:// [user:password@]host:port.
	// It may hold a password.
	Upstream string `json:"upstream"`
	// Dir is a folder of the user's, 0700 or 2770, for the proxy's sockets:
	// out.sock, dns.sock, in.sock.
	Dir string `json:"dir"`
	// Serve are ports inside that are served on 127.0.0.1 and ::1 of this
	// machine. Absent is none.
	Serve []uint16 `json:"serve,omitempty"`
	// Hosts are the hosts reached. Nil, absent in JSON, is any host of the
	// internet; empty is none. Their syntax is the proxy's to judge.
	Hosts []string `json:"hosts,omitzero"`
	// TCP are host:port or address:port reached with any protocol. Their
	// syntax is the proxy's to judge. Absent is none.
	TCP []string `json:"tcp,omitempty"`
	// Listen is a port of 127.0.0.1 for a proxy on loopback, 0 to 65535, zero
	// a free one. Nil leaves it to the proxy.
	Listen *uint16 `json:"listen,omitempty"`
	// PerMinute bounds new calls a minute, 1 or more; zero, absent in JSON, is
	// no bound.
	PerMinute int `json:"per_minute,omitzero"`
	// Routes are ways out beside the network, at most 64.
	Routes []route.Route `json:"routes,omitempty"`
	// Caller is what bridges are told of who calls. Nil has the wrap make one.
	Caller *route.Caller `json:"caller,omitempty"`
	// Secret is the URL secret of the routes that need one: 16 to 64 letters
	// and digits. Empty has the wrap make one.
	Secret string `json:"secret,omitempty"`
	// LAN reaches addresses that are not the internet's. Absent is false.
	LAN bool `json:"lan,omitzero"`
	// NoInternet leaves routes, the mode's ports and Serve alone. Absent is false.
	NoInternet bool `json:"no_internet,omitzero"`
	// Hold runs no program, until it is stopped (Linux). Neither TCP nor the
	// mode's ports go with it. Absent is false.
	Hold bool `json:"hold,omitzero"`
}

// Check judges the values of a proxy. The syntax of Hosts and TCP is judged
// by the proxy itself; here only that each is one word.
func (p Proxy) Check() error {
	if err := form.First(
		form.At("upstream", CheckUpstream(p.Upstream)),
		form.At("dir", form.Path(p.Dir)),
		form.At("serve", form.DistinctPorts(p.Serve)),
	); err != nil {
		return err
	}
	if p.Hold && len(p.TCP) > 0 {
		return form.At("tcp", form.Refuse("not with hold: only what is started inside can be carried so"))
	}
	return p.checkUnwalled()
}

// checkUnwalled judges what an [Unwalled] reads of a proxy too.
func (p Proxy) checkUnwalled() error {
	return form.First(
		form.At("hosts", form.Each(p.Hosts, form.Token)),
		form.At("tcp", form.Each(p.TCP, form.Token)),
		form.At("per_minute", checkPerMinute(p.PerMinute)),
		form.At("routes", route.CheckRoutes(p.Routes, route.Beside{})),
		form.At("caller", checkCaller(p.Caller)),
		form.At("secret", checkURLSecret(p.Secret)),
	)
}

func checkCaller(c *route.Caller) error {
	if c == nil {
		return nil
	}
	return c.Check()
}

func checkURLSecret(s string) error {
	if s == "" {
		return nil
	}
	return form.URLSecret(s)
}

func checkPerMinute(n int) error {
	if n < 0 || n > math.MaxInt32 {
		return form.Refuse("want 1 to " + strconv.Itoa(math.MaxInt32))
	}
	return nil
}

// CheckUpstream judges where a proxy's calls go: "direct", "system", or
// http://, https:// or socks5:// [user:password@]host:port. It never repeats
// it, since it may hold a password.
func CheckUpstream(s string) error {
	if s == "direct" || s == "system" {
		return nil
	}
	const want = "want direct, system, or http://, https:// or socks5:// [user:password@]host:port"
	if form.Argument(s) != nil || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return form.Refuse("holds white space or a control character: " + want)
	}
	u, err := url.Parse(s)
	if err != nil {
		return form.Refuse("not an address: " + want)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5":
		return form.Refuse(want)
	case u.Opaque != "" || u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.Contains(s, "#"):
		return form.Refuse("holds more than a host and a port: " + want)
	case u.Hostname() == "":
		return form.Refuse("no host: " + want)
	}
	if port, err := strconv.ParseUint(u.Port(), 10, 16); err != nil || port == 0 {
		return form.Refuse("no port of 1 to 65535: " + want)
	}
	if u.User == nil {
		return nil
	}
	password, set := u.User.Password()
	if !set || u.User.Username() == "" {
		return form.Refuse("a user and a password are given together: " + want)
	}
	if strings.ContainsFunc(u.User.Username()+password, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return form.Refuse("its user or password holds a control character: " + want)
	}
	return nil
}

func proxyShape(p *Proxy) form.Shape {
	return form.Object(
		form.Required("upstream", form.String(&p.Upstream)),
		form.Required("dir", form.String(&p.Dir)),
		form.Optional("serve", form.Ports(&p.Serve)),
		form.Optional("hosts", form.Strings(&p.Hosts)),
		form.Optional("tcp", form.Strings(&p.TCP)),
		form.Optional("listen", form.New(&p.Listen, func(n *uint16) form.Shape { return form.Whole(n, 0, 65535) })),
		form.Optional("per_minute", form.Whole(&p.PerMinute, 1, math.MaxInt32)),
		form.Optional("routes", form.List(&p.Routes, route.Shape)),
		form.Optional("caller", form.New(&p.Caller, route.CallerShape)),
		form.Optional("secret", form.String(&p.Secret)),
		form.Optional("lan", form.Bool(&p.LAN)),
		form.Optional("no_internet", form.Bool(&p.NoInternet)),
		form.Optional("hold", form.Bool(&p.Hold)),
	)
}
