package inside

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// MaxPorts is how many ports a [Want] may name: each takes two descriptors
// outside.
const MaxPorts = 256

// ErrWant is wrapped by every error about a [Want] or its flags.
var ErrWant = errors.New("not a network that can be made")

// Want says which listeners the namespace has beside the transparent one and
// the name server.
type Want struct {
	_ [0]func()

	// ProxyPort is where the proxy is served on 127.0.0.1 and ::1, 1 to
	// 65535; zero is nowhere.
	ProxyPort uint16
	// Ports are served in the same way, each once, and none of them ProxyPort.
	Ports []uint16
	// To are the destinations that TCP connections are carried to; any other
	// connection is refused before it is made. None is every destination.
	To []Destination
	// Sockets keeps the process that calls [Enter] making sockets for
	// [Sockets.Dial]: it must go on and execute nothing in its own place.
	Sockets bool
}

// A Destination is a block of addresses, at one port or, with 0, at every one.
type Destination struct {
	Block netip.Prefix
	Port  uint16
}

// String is "192.0.2.0/24" or "192.0.2.0/24:443".
func (d Destination) String() string {
	if d.Port == 0 {
		return d.Block.String()
	}
	return d.Block.String() + ":" + strconv.Itoa(int(d.Port))
}

// Nowhere is a destination that nothing has: what is meant for it is reset, and
// what is meant for any other is refused by the kernel.
var Nowhere = []Destination{{Block: netip.PrefixFrom(Own4, 32)}}

// anyPort gives the same blocks, each once, at every port.
func anyPort(to []Destination) []Destination {
	var all []Destination
	for _, d := range to {
		d.Port = 0
		if !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	return all
}

// MaxTo is how many destinations a [Want] may name: each is a rule.
const MaxTo = 256

// Check says whether the listeners can all be there.
func (w Want) Check() error {
	if len(w.Ports) > MaxPorts {
		return fmt.Errorf("%w: ports: %d are named, and at most %d can be", ErrWant, len(w.Ports), MaxPorts)
	}
	if len(w.To) > MaxTo {
		return fmt.Errorf("%w: destinations: %d are named, and at most %d can be", ErrWant, len(w.To), MaxTo)
	}
	for _, to := range w.To {
		if b := to.Block; !b.IsValid() || b.Bits() == 0 || b != b.Masked() || b.Addr().Is4In6() {
			return fmt.Errorf("%w: destination %s: it is no block of addresses", ErrWant, to)
		}
	}
	seen := map[uint16]string{DNSPort: "the sandbox's name server", TransparentPort: "the sandbox's way out"}
	if w.ProxyPort != 0 {
		if by, taken := seen[w.ProxyPort]; taken {
			return fmt.Errorf("%w: proxy port %d: it is %s inside; choose another", ErrWant, w.ProxyPort, by)
		}
		seen[w.ProxyPort] = "the proxy's port"
	}
	for _, p := range w.Ports {
		if p == 0 {
			return fmt.Errorf("%w: port 0: a port is 1 to 65535", ErrWant)
		}
		if by, taken := seen[p]; taken {
			return fmt.Errorf("%w: port %d: it is %s inside; choose another", ErrWant, p, by)
		}
		seen[p] = "named already and"
	}
	return nil
}

const (
	flagControl = "--control="
	flagProxy   = "--proxy-port="
	flagPort    = "--port="
	flagTo      = "--to="
	flagSockets = "--sockets"
)

// Flags tells the stage inside what is wanted and that its control socket is
// descriptor fd. No environment variable is used: the program would see it.
func (w Want) Flags(fd int) []string {
	f := []string{flagControl + strconv.Itoa(fd)}
	if w.ProxyPort != 0 {
		f = append(f, flagProxy+strconv.Itoa(int(w.ProxyPort)))
	}
	for _, p := range w.Ports {
		f = append(f, flagPort+strconv.Itoa(int(p)))
	}
	for _, to := range w.To {
		f = append(f, flagTo+to.String())
	}
	if w.Sockets {
		f = append(f, flagSockets)
	}
	return f
}

// ParseFlags reads what [Want.Flags] wrote off the front of args and gives the
// rest. The control socket's descriptor must be among the flags.
func ParseFlags(args []string) (fd int, want Want, rest []string, err error) {
	fd = -1
	rest = args
	for len(rest) > 0 {
		switch arg := rest[0]; {
		case strings.HasPrefix(arg, flagControl):
			n, err := number(arg, flagControl, 3, 1<<20)
			if err != nil {
				return -1, Want{}, nil, err
			}
			if fd >= 0 {
				return -1, Want{}, nil, fmt.Errorf("%w: %s: it is there twice", ErrWant, arg)
			}
			fd = n
		case strings.HasPrefix(arg, flagProxy):
			n, err := number(arg, flagProxy, 1, 65535)
			if err != nil {
				return -1, Want{}, nil, err
			}
			if want.ProxyPort != 0 {
				return -1, Want{}, nil, fmt.Errorf("%w: %s: it is there twice", ErrWant, arg)
			}
			want.ProxyPort = uint16(n)
		case strings.HasPrefix(arg, flagPort):
			n, err := number(arg, flagPort, 1, 65535)
			if err != nil {
				return -1, Want{}, nil, err
			}
			want.Ports = append(want.Ports, uint16(n))
		case strings.HasPrefix(arg, flagTo):
			to, err := parseDestination(arg)
			if err != nil {
				return -1, Want{}, nil, err
			}
			want.To = append(want.To, to)
		case arg == flagSockets:
			want.Sockets = true
		default:
			return finish(fd, want, rest)
		}
		rest = rest[1:]
	}
	return finish(fd, want, rest)
}

func finish(fd int, want Want, rest []string) (int, Want, []string, error) {
	if fd < 0 {
		return -1, Want{}, nil, fmt.Errorf("%w: %s is missing: this stage is started by lnk sandbox, not by hand", ErrWant, strings.TrimSuffix(flagControl, "="))
	}
	if err := want.Check(); err != nil {
		return -1, Want{}, nil, err
	}
	return fd, want, slices.Clip(rest), nil
}

func parseDestination(arg string) (Destination, error) {
	s := strings.TrimPrefix(arg, flagTo)
	var port uint16
	if at := strings.LastIndexByte(s, ':'); at > strings.IndexByte(s, '/') && strings.Contains(s, "/") {
		n, err := number(s[at+1:], "", 1, 65535)
		if err != nil {
			return Destination{}, fmt.Errorf("%w: %s: its port is no number from 1 to 65535", ErrWant, arg)
		}
		s, port = s[:at], uint16(n)
	}
	block, err := netip.ParsePrefix(s)
	if err != nil {
		return Destination{}, fmt.Errorf("%w: %s: it takes a block of addresses, with a port or without", ErrWant, arg)
	}
	return Destination{block, port}, nil
}

// number reads a plain decimal: no sign, no space, no leading zero.
func number(arg, flag string, low, high int) (int, error) {
	s := strings.TrimPrefix(arg, flag)
	n, err := strconv.Atoi(s)
	if err != nil || strconv.Itoa(n) != s || n < low || n > high {
		return 0, fmt.Errorf("%w: %s: it takes a number from %d to %d", ErrWant, arg, low, high)
	}
	return n, nil
}
