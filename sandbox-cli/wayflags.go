package cli

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/inside"
)

// wayFlags is what the proxy stage is told of the network beside what its
// judge is: which kind of way it is, and what comes in by it.
type wayFlags struct {
	Mode  string   // wayProxied, wayLoopback or wayHost
	Serve []uint16 // ports inside, served on this machine's loopback
}

// The kinds of way.
const (
	wayProxied  = "proxied"  // a proxy inside, and everything else carried to it
	wayLoopback = "loopback" // ports of this machine's loopback and nothing else
	wayHost     = "host"     // any address but this machine's own
)

func (f *wayFlags) args() []string {
	var a []string
	if f.Mode != wayProxied && f.Mode != "" {
		a = append(a, "--mode", f.Mode)
	}
	for _, p := range f.Serve {
		a = append(a, "--serve", strconv.Itoa(int(p)))
	}
	return a
}

// wayParsed are the flags as they are read.
type wayParsed struct{ serve []uint }

func (f *wayFlags) register(set *pflag.FlagSet) *wayParsed {
	p := &wayParsed{}
	set.StringVar(&f.Mode, "mode", wayProxied, "proxied, loopback or host")
	set.UintSliceVar(&p.serve, "serve", nil, "a port inside that is served on this machine's loopback")
	return p
}

func (f *wayFlags) takeWay(p *wayParsed) (err error) {
	if !slices.Contains([]string{wayProxied, wayLoopback, wayHost}, f.Mode) {
		return fmt.Errorf("--mode %q: want proxied, loopback or host", f.Mode)
	}
	f.Serve, err = portsOf("--serve", p.serve)
	return err
}

// portsOf reads the ports that a flag named.
func portsOf(flag string, given []uint) ([]uint16, error) {
	var ports []uint16
	for _, p := range given {
		if p < 1 || p > 65535 {
			return nil, fmt.Errorf("%s %d: want 1 to 65535", flag, p)
		}
		ports = append(ports, uint16(p))
	}
	return ports, nil
}

// checkServe refuses to serve what the sandbox has for itself at that port
// inside.
func (f *proxyFlags) checkServe() error {
	for _, p := range f.Serve {
		switch {
		case p == inside.DNSPort || p == inside.TransparentPort || p == f.ProxyPort:
			return refuse("/confinement/net/proxied/proxy/serve: port %d: the sandbox has it for itself inside: serve another", p)
		case slices.Contains(f.Ports, p):
			return refuse("/confinement/net/proxied/ports: port %d: it is served too, and cannot be reached and served at once", p)
		}
	}
	return nil
}
