package client

import (
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// Net holds exactly one network mode, never two. The zero value holds none
// and is refused. Its JSON is "closed", or an object whose one member is the
// mode's name and holds the mode's own keys.
type Net struct{ mode NetMode }

// NetMode is one of [Closed], [Loopback], [Proxied], [Reaching] and [Host].
type NetMode interface {
	netMode() string
	check() error
}

// NetOf makes the Net that holds one mode.
func NetOf(m NetMode) Net { return Net{mode: m} }

// Mode gives the mode held, or nil for the zero Net.
func (n Net) Mode() NetMode { return n.mode }

// ModeName is the mode's name in JSON and in a spec: "closed", "loopback",
// "proxied", "reaching" or "host"; empty for none.
func (n Net) ModeName() string {
	if n.mode == nil {
		return ""
	}
	return n.mode.netMode()
}

// Closed is no network but an empty loopback of the sandbox's own.
type Closed struct{}

// Loopback reaches ports of this machine's loopback and nothing else.
type Loopback struct {
	// Ports are 1 to 65535, each once, reached inside at 127.0.0.1 and ::1.
	Ports []uint16 `json:"ports"`
	// Dir is the folder of the relay's sockets (Linux).
	Dir string `json:"dir"`
}

// Proxied has one way out, the proxy.
type Proxied struct {
	// Proxy is the way out.
	Proxy Proxy `json:"proxy"`
	// Ports are ports of this machine's loopback, as in [Loopback].
	Ports []uint16 `json:"ports"`
}

// Reaching has proxies that others run as its only ways out (Linux).
type Reaching struct {
	// Reached are the proxies, each at a port of its own.
	Reached []Reached `json:"reached"`
	// Ports are ports of this machine's loopback, as in [Loopback].
	Ports []uint16 `json:"ports"`
}

// Reached is one proxy that a [Reaching] sandbox calls.
type Reached struct {
	// Dir is the folder of the proxy's sockets.
	Dir string `json:"dir"`
	// Port is where it is reached inside, 1 to 65535.
	Port uint16 `json:"port"`
}

// Host is the machine's own network.
type Host struct {
	// Ports are the ports of loopback that stay open when Localhost is false.
	Ports []uint16 `json:"ports"`
	// Localhost opens this machine's loopback and its own addresses.
	Localhost bool `json:"localhost"`
}

func (Closed) netMode() string   { return "closed" }
func (Loopback) netMode() string { return "loopback" }
func (Proxied) netMode() string  { return "proxied" }
func (Reaching) netMode() string { return "reaching" }
func (Host) netMode() string     { return "host" }

const netModes = "closed, loopback, proxied, reaching, host"

// Check judges the mode's values.
func (n Net) Check() error {
	if n.mode == nil {
		return form.Refuse("no mode, want one of " + netModes)
	}
	if _, is := n.mode.(Closed); is {
		return nil
	}
	return form.At(n.mode.netMode(), n.mode.check())
}

func (Closed) check() error { return nil }

func (m Loopback) check() error {
	return form.First(
		form.At("ports", form.DistinctPorts(m.Ports)),
		form.At("dir", form.Path(m.Dir)),
	)
}

func (m Proxied) check() error {
	if m.Proxy.Hold && len(m.Ports) > 0 {
		return form.At("ports", form.Refuse("not with hold: nothing of it is inside to reach them from"))
	}
	return form.First(
		form.At("proxy", m.Proxy.Check()),
		form.At("ports", form.DistinctPorts(m.Ports)),
	)
}

func (m Reaching) check() error {
	if len(m.Reached) == 0 {
		return form.At("reached", form.Refuse("empty, want a proxy to reach (closed reaches nothing)"))
	}
	var at []uint16
	for i, r := range m.Reached {
		if err := form.At("dir", form.Path(r.Dir)); err != nil {
			return form.At("reached", form.AtIndex(i, err))
		}
		at = append(at, r.Port)
		if err := form.DistinctPorts(at); err != nil {
			return form.At("reached", form.AtIndex(i, form.At("port", unplaced(err))))
		}
	}
	// A port inside is one thing: a proxy, or a port of this machine.
	ports := func() error {
		if err := form.DistinctPorts(m.Ports); err != nil {
			return err
		}
		return form.Each(m.Ports, func(p uint16) error {
			return unplaced(form.DistinctPorts(append(at[:len(at):len(at)], p)))
		})
	}
	return form.At("ports", ports())
}

func (m Host) check() error { return form.At("ports", form.DistinctPorts(m.Ports)) }

// unplaced keeps an error's problem and drops where it was.
func unplaced(err error) error {
	if e, is := err.(*form.Error); is {
		return form.Refuse(e.Problem)
	}
	return err
}

func netShape(n *Net) form.Shape {
	return func(d *form.Decoder) {
		if d.Peek() == form.IsString {
			var word string
			form.String(&word)(d)
			switch {
			case d.Failed():
			case word == "closed":
				n.mode = Closed{}
			case strings.Contains(", "+netModes+", ", ", "+word+", ") && word != "":
				d.Refuse(form.Quote(word) + `: holds keys of its own, write {"` + word + `": {…}}`)
			default:
				d.Refuse(form.Quote(word) + ": not one of " + netModes)
			}
			return
		}
		var modes []string
		mode := func(name string, shape form.Shape) form.Member {
			return form.Optional(name, func(d *form.Decoder) {
				if modes = append(modes, name); len(modes) > 1 {
					d.Refuse("a second mode, beside " + modes[0])
					return
				}
				shape(d)
			})
		}
		form.Object(
			form.Moved("closed", `holds no keys, write "closed"`),
			mode("loopback", heldMode(n, loopbackShape)),
			mode("proxied", heldMode(n, proxiedShape)),
			mode("reaching", heldMode(n, reachingShape)),
			mode("host", heldMode(n, hostShape)),
		)(d)
		if !d.Failed() && n.mode == nil {
			d.Refuse("no mode, want one of " + netModes)
		}
	}
}

func heldMode[M NetMode](n *Net, shape func(*M) form.Shape) form.Shape {
	return func(d *form.Decoder) {
		var m M
		shape(&m)(d)
		n.mode = m
	}
}

func loopbackShape(m *Loopback) form.Shape {
	return form.Object(
		form.Required("ports", form.Ports(&m.Ports)),
		form.Required("dir", form.String(&m.Dir)),
	)
}

func proxiedShape(m *Proxied) form.Shape {
	return form.Object(
		form.Required("proxy", proxyShape(&m.Proxy)),
		form.Required("ports", form.Ports(&m.Ports)),
	)
}

func reachingShape(m *Reaching) form.Shape {
	one := func(r *Reached) form.Shape {
		return form.Object(
			form.Required("dir", form.String(&r.Dir)),
			form.Required("port", form.Port(&r.Port)),
		)
	}
	return form.Object(
		form.Required("reached", form.List(&m.Reached, one)),
		form.Required("ports", form.Ports(&m.Ports)),
	)
}

func hostShape(m *Host) form.Shape {
	return form.Object(
		form.Required("ports", form.Ports(&m.Ports)),
		form.Required("localhost", form.Bool(&m.Localhost)),
	)
}

// MarshalJSON writes the one mode that is held.
func (n Net) MarshalJSON() ([]byte, error) {
	switch m := n.mode.(type) {
	case nil:
		return nil, form.Refuse("no mode, want one of " + netModes)
	case Closed:
		return []byte(`"closed"`), nil
	default:
		return json.Marshal(map[string]NetMode{m.netMode(): m})
	}
}
