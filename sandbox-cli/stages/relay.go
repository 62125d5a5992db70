package stages

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/inside"
)

// relayFlags is what the relay is told: the proxies, each in its folder and at
// its port inside, and ports of this machine's loopback.
type relayFlags struct {
	also     []reached
	ports    []uint16
	own      bool // in a network of its own, which it makes
	terminal bool
	command  []string
}

// reached is one proxy.
type reached struct {
	dir  string
	port uint16
}

// parseRelay reads `--also <dir>=<port>… [--port <port>…] [--own-network]
// [--terminal] -- <command>`.
func parseRelay(args []string) (relayFlags, error) {
	var f relayFlags
	var taken []uint16
	port := func(said string) (uint16, error) {
		n, err := strconv.ParseUint(said, 10, 16)
		if err != nil || n == 0 || strconv.FormatUint(n, 10) != said {
			return 0, fmt.Errorf("%q: want a port of 1 to 65535", said)
		}
		if slices.Contains(taken, uint16(n)) {
			return 0, fmt.Errorf("port %d: it is there twice", n)
		}
		taken = append(taken, uint16(n))
		return uint16(n), nil
	}
	for len(args) > 0 {
		flag, value, joined := strings.Cut(args[0], "=")
		args = args[1:]
		switch flag {
		case "--":
			f.command = args
			return f, f.check()
		case "--own-network":
			f.own = true
			continue
		case "--terminal":
			f.terminal = true
			continue
		case "--also", "--port":
		default:
			return f, fmt.Errorf("%q: no such flag: want --also <dir>=<port>, --port <port>, and -- before the command", flag)
		}
		if !joined {
			if len(args) == 0 {
				return f, fmt.Errorf("%s: lacks its value", flag)
			}
			value, args = args[0], args[1:]
		}
		if flag == "--port" {
			n, err := port(value)
			if err != nil {
				return f, fmt.Errorf("--port: %w", err)
			}
			f.ports = append(f.ports, n)
			continue
		}
		at := strings.LastIndexByte(value, '=')
		if at < 0 || !filepath.IsAbs(value[:at]) || filepath.Clean(value[:at]) != value[:at] {
			return f, fmt.Errorf("--also %q: want <dir>=<port>, the folder absolute and clean", value)
		}
		n, err := port(value[at+1:])
		if err != nil {
			return f, fmt.Errorf("--also: %w", err)
		}
		f.also = append(f.also, reached{value[:at], n})
	}
	return f, errors.New("want -- and a command")
}

func (f relayFlags) check() error {
	switch {
	case len(f.also) == 0:
		return errors.New("no --also: there is no proxy to reach")
	case len(f.command) == 0:
		return errors.New("want a command behind --")
	case len(f.ports) > 0 && !f.own:
		return errors.New("--port without --own-network: loopback is this machine's already")
	case f.own:
		return RelayNetwork(f.reachedAt(), f.ports).Check()
	}
	return nil
}

func (f relayFlags) reachedAt() []uint16 {
	at := make([]uint16, len(f.also))
	for i, to := range f.also {
		at[i] = to.port
	}
	return at
}

// RelayNetwork is the network that a relay makes: proxies are reached at some
// ports of its loopback, and ports of this machine's at the others. No
// destination is carried.
func RelayNetwork(reached, ports []uint16) inside.Want {
	return inside.Want{Ports: slices.Concat(ports, reached), To: inside.Nowhere, Sockets: true}
}

// taken says whether the relay has a port inside for itself.
func (f relayFlags) taken(port uint16) bool {
	return slices.Contains(f.ports, port) || slices.ContainsFunc(f.also, func(r reached) bool { return r.port == port })
}
