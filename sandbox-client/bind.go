package client

import (
	"io"
	"math"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// ProxyBind is what a blank proxy is bound with, one line of JSON on its
// control socket: what lnk sandbox proxy takes as arguments, and inline what
// is otherwise in files. It holds secrets. The blank proxy reads every member.
type ProxyBind struct {
	_ [0]func()

	// Name is the sandbox's name.
	Name string `json:"name,omitempty"`
	// Wire is what pause and traffic call it; without it, Name.
	Wire string `json:"wire,omitempty"`
	// Upstream is as a [Proxy]'s.
	Upstream string `json:"upstream"`
	// Host are the hosts reached. Nil is any host of the internet; empty is none.
	Host []string `json:"host,omitzero"`
	// TCP are host:port or address:port reached with any protocol.
	TCP []string `json:"tcp,omitempty"`
	// Serve are ports inside that are served on this machine's loopback.
	Serve []uint16 `json:"serve,omitempty"`
	// Reach are ports of this machine's loopback that are reached.
	Reach []uint16 `json:"reach,omitempty"`
	// Desktop is the port inside of a remote desktop, served on desktop.sock
	// in the proxy's folder and nowhere else. Zero is none.
	Desktop uint16 `json:"desktop,omitzero"`
	// LAN reaches addresses that are not the internet's.
	LAN bool `json:"lan,omitzero"`
	// NoInternet leaves routes, Reach and Serve alone.
	NoInternet bool `json:"no_internet,omitzero"`
	// PerMinute bounds new calls a minute; zero is no bound.
	PerMinute int `json:"per_minute,omitzero"`
	// Routes are ways out beside the network. With them Caller is due.
	Routes []route.Route `json:"routes,omitempty"`
	// Caller is what bridges are told of who calls.
	Caller *route.Caller `json:"caller,omitempty"`
	// URLSecret is 16 to 64 letters and digits, due when a route needs it: who
	// binds knows the addresses, so a proxy cannot make its own.
	URLSecret string `json:"url_secret,omitempty"`
}

// ReadProxyBind reads one line and judges it. What follows the line may be
// read from r and is dropped.
func ReadProxyBind(r io.Reader) (ProxyBind, error) { return read(form.Line(r), proxyBindShape) }

// WriteProxyBind judges a bind and writes it.
func WriteProxyBind(w io.Writer, b ProxyBind) error { return write(w, b) }

// Check judges the values of a bind.
func (b ProxyBind) Check() error {
	return form.First(
		form.At("name", optionalName(b.Name)),
		form.At("wire", optionalName(b.Wire)),
		form.At("upstream", CheckUpstream(b.Upstream)),
		form.At("host", form.Each(b.Host, form.Token)),
		form.At("tcp", form.Each(b.TCP, form.Token)),
		form.At("serve", form.DistinctPorts(b.Serve)),
		form.At("reach", form.DistinctPorts(b.Reach)),
		form.At("per_minute", checkPerMinute(b.PerMinute)),
		form.At("routes", route.CheckRoutes(b.Routes, route.Beside{})),
		form.At("caller", b.checkCaller()),
		form.At("url_secret", b.checkURLSecret()),
	)
}

func optionalName(s string) error {
	if s == "" {
		return nil
	}
	return form.Name(s)
}

func (b ProxyBind) checkCaller() error {
	if len(b.Routes) > 0 && b.Caller == nil {
		return form.Refuse("missing: routes have a caller")
	}
	return checkCaller(b.Caller)
}

func (b ProxyBind) checkURLSecret() error {
	for _, r := range b.Routes {
		if r.UnderSecret() && b.URLSecret == "" {
			return form.Refuse("missing: route " + form.Quote(r.Name) + " is mounted under it")
		}
	}
	return checkURLSecret(b.URLSecret)
}

func proxyBindShape(b *ProxyBind) form.Shape {
	return form.Object(
		form.Optional("name", form.String(&b.Name)),
		form.Optional("wire", form.String(&b.Wire)),
		form.Required("upstream", form.String(&b.Upstream)),
		form.Optional("host", form.Strings(&b.Host)),
		form.Optional("tcp", form.Strings(&b.TCP)),
		form.Optional("serve", form.Ports(&b.Serve)),
		form.Optional("reach", form.Ports(&b.Reach)),
		form.Optional("desktop", form.Port(&b.Desktop)),
		form.Optional("lan", form.Bool(&b.LAN)),
		form.Optional("no_internet", form.Bool(&b.NoInternet)),
		form.Optional("per_minute", form.Whole(&b.PerMinute, 1, math.MaxInt32)),
		form.Optional("routes", form.List(&b.Routes, route.Shape)),
		form.Optional("caller", form.New(&b.Caller, route.CallerShape)),
		form.Optional("url_secret", form.String(&b.URLSecret)),
	)
}

// ProxyBound is a blank proxy's answer to a bind, one line of JSON: {} once it
// is bound, {"error"} when it stays blank.
type ProxyBound struct {
	_ [0]func()

	// Error is why it stays blank, one line; empty when it is bound.
	Error string `json:"error,omitempty"`
}

// ReadProxyBound reads one line. What follows it may be read from r and is dropped.
func ReadProxyBound(r io.Reader) (ProxyBound, error) { return read(form.Line(r), proxyBoundShape) }

// WriteProxyBound writes an answer.
func WriteProxyBound(w io.Writer, b ProxyBound) error { return write(w, b) }

// Check judges that the error, if any, is text.
func (b ProxyBound) Check() error { return form.At("error", form.Argument(b.Error)) }

func proxyBoundShape(b *ProxyBound) form.Shape {
	refusal := func(d *form.Decoder) {
		form.String(&b.Error)(d)
		if !d.Failed() && b.Error == "" {
			d.Refuse("empty, want why it is not bound")
		}
	}
	return form.Object(form.Optional("error", refusal))
}
