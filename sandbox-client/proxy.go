package client

import "github.com/lnkhq/lnk-sandbox/sandbox-route"

// Proxy is a proxied sandbox's way out.
type Proxy struct {
	_ [0]func()

	// Upstream is "direct", "system", or http://, https:// or socks5://
	// [user:password@]host:port.
	Upstream string `json:"upstream"`
	// Dir is a folder of the user's, 0700 or 2770, for the proxy's sockets.
	Dir string `json:"dir"`
	// Serve are ports inside that are served on 127.0.0.1 and ::1 of this machine.
	Serve []uint16 `json:"serve,omitempty"`
	// Hosts are the hosts reached. Nil is any host of the internet; empty is none.
	Hosts []string `json:"hosts,omitzero"`
	// TCP are host:port or address:port reached with any protocol.
	TCP []string `json:"tcp,omitempty"`
	// Listen is a port of 127.0.0.1 for a proxy on loopback; nil is none,
	// zero a free one.
	Listen *uint16 `json:"listen,omitempty"`
	// PerMinute bounds new calls a minute; zero is no bound.
	PerMinute int `json:"per_minute,omitempty"`
	// Routes are ways out beside the network.
	Routes []route.Route `json:"routes,omitempty"`
	// Caller is what bridges are told of who calls.
	Caller *route.Caller `json:"caller,omitempty"`
	// Secret is the URL secret of the routes that need one: 16 to 64 letters
	// and digits. Empty lets the wrap make one.
	Secret string `json:"secret,omitempty"`
	// LAN reaches addresses that are not the internet's.
	LAN bool `json:"lan,omitempty"`
	// NoInternet leaves routes, ports and serve alone.
	NoInternet bool `json:"no_internet,omitempty"`
	// Hold runs no program (Linux).
	Hold bool `json:"hold,omitempty"`
}
