package probes

import (
	"net"
	"slices"
	"strconv"
	"strings"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// maxHosts bounds the hosts of a list that are called.
const maxHosts = 16

// ports are the ports of loopback that a network names.
func ports(n client.Net) []uint16 {
	switch m := n.Mode().(type) {
	case client.Loopback:
		return m.Ports
	case client.Proxied:
		return m.Ports
	case client.Reaching:
		return m.Ports
	case client.Host:
		return m.Ports
	}
	return nil
}

func (o *Outside) network(c client.Confinement) []Probe {
	rest := left(c.Net)
	call := func(name, at string) Probe {
		p := Probe{Name: name, Want: rest}
		if at != "" {
			p.Attempt = Attempt{Kind: DialTCP, Address: at, Word: o.Word}
		}
		return p
	}
	all := []Probe{
		call("call a port of this machine's loopback that is not named", o.loopback),
		call("call this machine's own address", o.own),
		{Name: "send a UDP packet to this machine", Want: rest},
		{Name: "call the cloud's metadata address", Want: rest, Missing: "nothing answers there on this machine"},
	}
	if o.udp != "" {
		all[2].Attempt = Attempt{Kind: SendUDP, Address: o.udp, Word: o.Word}
	}
	if o.metadata {
		all[3].Missing, all[3].Attempt = "", Attempt{Kind: Reach, Address: metadataAddress}
	}
	for _, port := range ports(c.Net) {
		number := strconv.Itoa(int(port))
		p := Probe{Name: "call port " + number + " of this machine's loopback", Want: Opens}
		if p.Attempt = (Attempt{Kind: Reach, Address: "127.0.0.1:" + number}); !o.listening[port] {
			p.Missing = "nothing listens there"
		}
		all = append(all, p)
	}
	switch m := c.Net.Mode().(type) {
	case client.Proxied:
		if !m.Proxy.Hold {
			all = append(all, o.proxied(m.Proxy)...)
		}
	case client.Reaching:
		for _, r := range m.Reached {
			number := strconv.Itoa(int(r.Port))
			all = append(all, Probe{Name: "call the proxy at port " + number, Want: Opens, Attempt: Attempt{Kind: Reach, Address: "127.0.0.1:" + number}})
		}
	}
	return all
}

// proxied tries what a proxy may be asked for.
func (o *Outside) proxied(p client.Proxy) []Probe {
	var all []Probe
	closed := func(name, at string) {
		one := Probe{Name: name}
		if at != "" {
			one.Attempt = Attempt{Kind: ConnectWord, Address: at, Word: o.Word}
		}
		all = append(all, one)
	}
	closed("ask the proxy for this machine's loopback", o.loopback)
	closed("ask the proxy for this machine's own address", o.own)
	if p.Hosts != nil || p.NoInternet {
		all = append(all, Probe{Name: "ask the proxy for a host that is not named", Attempt: Attempt{Kind: Connect, Address: "lnk-check.invalid:443"}})
	}
	named := want(!p.NoInternet)
	asked := 0
	for _, host := range slices.Concat(p.Hosts, p.TCP) {
		if strings.HasPrefix(host, "*") {
			continue // of a name under it nobody knows one
		}
		if asked++; asked > maxHosts {
			break
		}
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), "443")
		}
		all = append(all, Probe{Name: "call " + host, Want: named, Attempt: Attempt{Kind: Connect, Address: host}})
	}
	return all
}
