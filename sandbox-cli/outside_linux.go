package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/child"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// proxyOutside is a proxy that makes no network: it is called on this machine's
// loopback, or by sockets in a folder.
func proxyOutside(s Streams, f proxyFlags, argv, env []string) (int, error) {
	if f.Blank {
		return blankProxy(s, f, argv, env)
	}
	if f.Dir != "" {
		return proxyInFolder(s, f, argv, env)
	}
	return proxyOnLoopback(s, f, argv, env)
}

func proxyOnLoopback(s Streams, f proxyFlags, argv, env []string) (int, error) {
	listener, env, err := listenerOf(*f.Listen, env)
	if err != nil {
		return 0, setupFailed(err)
	}
	defer listener.Close()
	secret, err := secretOf(f.PointedBy, env)
	if err != nil {
		return statusRefused, err
	}
	if f.PointedBy != "" {
		env = pointedAlone(env)
	}
	told := newTeller(s.Err, f)
	way, err := newWay(f, told, secret)
	if err != nil {
		return 0, setupFailed(err)
	}
	defer way.Close()
	way.serveProxy(listener)
	if *f.Listen == 0 {
		env = filled(env, uint16(listener.Addr().(*net.TCPAddr).Port))
	}
	if err := f.routed.seal(); err != nil {
		return 0, setupFailed(err)
	}
	status, err := child.RunAsItIs(argv, env)
	way.end(status)
	return status, err
}

// freed says what lets a port be had that was not; another is where another port
// would help.
func freed(err error, another string) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "such a low port is for root alone (net.ipv4.ip_unprivileged_port_start): be root, or " + another
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "the loopback of this network is down, or has no 127.0.0.1: `ip link set lo up`"
	}
	return "something on this machine has it: end that, or " + another
}

// listenerOf is the proxy's listener: the one that the caller holds and handed
// on, or one that is made. The environment that it gives does not name it.
func listenerOf(port uint16, env []string) (net.Listener, []string, error) {
	prefix := client.ListenerVariable + "="
	at := slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, prefix) })
	if at < 0 {
		l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return nil, nil, fmt.Errorf("listen: port %d: %w: %s", port, plain(err), freed(err, "listen on another"))
		}
		return l, env, nil
	}
	l, err := heldListener(strings.TrimPrefix(env[at], prefix), port)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", client.ListenerVariable, err)
	}
	return l, withoutListener(env), nil
}

// withoutListener is an environment that names no listener: it is the proxy's,
// and no program's.
func withoutListener(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, client.ListenerVariable+"=") })
}

func plain(err error) error {
	var no syscall.Errno
	if errors.As(err, &no) {
		return no
	}
	return err
}

// minSecret bounds how short the secret of a proxy on loopback may be, in bytes:
// anybody on this machine may try it.
const minSecret = 16

// secretOf is what the proxy asks of every call: what the variable's address
// carries. Where no program is pointed at it, nobody knows it, and only routes
// are answered.
func secretOf(variable string, env []string) (string, error) {
	if variable == "" {
		return rand.Text(), nil
	}
	at := slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, variable+"=") })
	if at < 0 {
		return "", fmt.Errorf("--pointed-by %s: it is not in the environment: start the command with what wrap printed", variable)
	}
	u, err := url.Parse(strings.TrimPrefix(env[at], variable+"="))
	if err != nil || u.User == nil {
		return "", fmt.Errorf("--pointed-by %s: it holds no address with a secret: start the command with what wrap printed", variable)
	}
	secret, _ := u.User.Password()
	if len(secret) < minSecret {
		return "", fmt.Errorf("--pointed-by %s: its secret is shorter than %d", variable, minSecret)
	}
	return secret, nil
}
