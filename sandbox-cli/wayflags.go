package cli

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/inside"
)

// wayFlags is what the proxy stage is told of the network beside what its
// judge is: which kind of way it is, where it is reached, and what comes in.
type wayFlags struct {
	Mode  string   // wayProxied, wayLoopback or wayHost
	Serve []uint16 // ports inside, served on this machine's loopback

	// On this machine's loopback, with no wall: where, and the variable of its
	// own environment that holds the address with the secret.
	Listen    *uint16
	PointedBy string

	// By sockets in a folder, for sandboxes that others start.
	Dir   string
	Hold  bool // no program: until it is stopped
	Agent *int // the user that the sandbox runs as, where it is another
	Group *int // and the folder's group

	// Blank: what it is comes on a control socket, from its own user or the
	// binder.
	Blank   bool
	Wire    string // what pause and traffic call it; bound, not told
	Control string
	Binder  *int
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
	if f.Listen != nil {
		a = append(a, "--listen", strconv.Itoa(int(*f.Listen)))
	}
	if f.PointedBy != "" {
		a = append(a, "--pointed-by", f.PointedBy)
	}
	if f.Dir != "" {
		a = append(a, "--dir", f.Dir)
	}
	if f.Hold {
		a = append(a, "--hold")
	}
	if f.Agent != nil {
		a = append(a, "--agent-user", strconv.Itoa(*f.Agent), "--group", strconv.Itoa(*f.Group))
	}
	return a
}

// outside says whether the proxy serves what others start, and makes no
// network.
func (f *wayFlags) outside() bool { return f.Listen != nil || f.Dir != "" }

// wayParsed are the flags as they are read.
type wayParsed struct {
	set          *pflag.FlagSet
	serve        []uint
	listen       uint
	agent, group int
	binder       int
}

func (f *wayFlags) register(set *pflag.FlagSet) *wayParsed {
	p := &wayParsed{set: set}
	set.StringVar(&f.Mode, "mode", wayProxied, "proxied, loopback or host")
	set.UintSliceVar(&p.serve, "serve", nil, "a port inside that is served on this machine's loopback")
	set.UintVar(&p.listen, "listen", 0, "a port of 127.0.0.1 to listen on, 0 a free one; there is no wall")
	set.StringVar(&f.PointedBy, "pointed-by", "", "the variable that holds the proxy's address with its secret")
	set.StringVar(&f.Dir, "dir", "", "the folder of the proxy's sockets")
	set.BoolVar(&f.Hold, "hold", false, "hold no program, until stopped")
	set.IntVar(&p.agent, "agent-user", -1, "the user that the sandbox runs as")
	set.IntVar(&p.group, "group", -1, "the folder's group")
	set.BoolVar(&f.Blank, "blank", false, "nothing until it is bound")
	set.StringVar(&f.Control, "control", "", "the socket that it is bound on")
	set.IntVar(&p.binder, "binder", -1, "another user that may bind it")
	return p
}

func (f *wayFlags) takeWay(p *wayParsed) (err error) {
	if !slices.Contains([]string{wayProxied, wayLoopback, wayHost}, f.Mode) {
		return fmt.Errorf("--mode %q: want proxied, loopback or host", f.Mode)
	}
	if f.Serve, err = portsOf("--serve", p.serve); err != nil {
		return err
	}
	if p.set.Changed("listen") {
		if p.listen > math.MaxUint16 {
			return fmt.Errorf("--listen %d: want 0 to 65535", p.listen)
		}
		at := uint16(p.listen)
		f.Listen = &at
	}
	for _, n := range []struct {
		flag string
		v    int
		into **int
	}{{"agent-user", p.agent, &f.Agent}, {"group", p.group, &f.Group}, {"binder", p.binder, &f.Binder}} {
		if p.set.Changed(n.flag) {
			if n.v < 0 || n.v >= math.MaxUint32 {
				return fmt.Errorf("--%s %d: want a number of a user or a group", n.flag, n.v)
			}
			*n.into = &n.v
		}
	}
	if err := f.checkBlank(p.set); err != nil {
		return err
	}
	return f.checkWay()
}

// ofBlank are the flags that a blank proxy has; what else it is it is bound with.
var ofBlank = []string{"settings", "blank", "control", "binder", "dir", "agent-user", "group", "hold"}

func (f *wayFlags) checkBlank(set *pflag.FlagSet) (err error) {
	if !f.Blank {
		if f.Control != "" || f.Binder != nil {
			return errors.New("--control and --binder are a blank proxy's: want --blank")
		}
		return nil
	}
	set.Visit(func(one *pflag.Flag) {
		if err == nil && !slices.Contains(ofBlank, one.Name) {
			err = fmt.Errorf("--%s beside --blank: what it is comes on the control socket", one.Name)
		}
	})
	switch {
	case err != nil:
		return err
	case f.Dir == "":
		return errors.New("--blank without --dir: nothing could reach it")
	case !filepath.IsAbs(f.Control) || filepath.Clean(f.Control) != f.Control:
		return fmt.Errorf("--control %q: want the absolute, clean path of a socket", f.Control)
	}
	return nil
}

// checkWay refuses flags that do not go together.
func (f *wayFlags) checkWay() error {
	switch {
	case f.Listen != nil && f.Dir != "":
		return errors.New("--listen beside --dir: want one of them")
	case f.Listen != nil && len(f.Serve) > 0:
		return errors.New("--serve beside --listen: without a wall its ports are this machine's already")
	case f.PointedBy != "" && f.Listen == nil:
		return errors.New("--pointed-by without --listen: only a proxy on loopback is pointed at")
	case f.Hold && f.Dir == "":
		return errors.New("--hold without --dir: nothing could reach it")
	case (f.Agent == nil) != (f.Group == nil):
		return errors.New("--agent-user and --group are given together")
	case f.Agent != nil && f.Dir == "":
		return errors.New("--agent-user without --dir: it is whose sockets in that folder are taken")
	case f.Dir != "" && (!filepath.IsAbs(f.Dir) || filepath.Clean(f.Dir) != f.Dir):
		return fmt.Errorf("--dir %q: want an absolute, clean path", f.Dir)
	}
	return nil
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
