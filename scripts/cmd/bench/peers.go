package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/lnkhq/lnk-sandbox/scripts/internal/workspace"
)

// A peer is a proxy that others wrote, on loopback and with no sandbox: it
// shows what the machine allows.
type peer struct {
	name string
	at   string // host:port, or the address of a socket in a folder
	pid  int
}

// A recipe starts a peer on a port, with a file of its settings.
type recipe struct {
	program  string
	settings func(port string) string
	argv     func(port, file string) []string
}

// recipes are the peers that are measured where they are on PATH: those that
// answer CONNECT, and plain requests.
var recipes = []recipe{
	{"tinyproxy", func(port string) string {
		return "Port " + port + "\nListen 127.0.0.1\nTimeout 600\nMaxClients 2048\nLogLevel Critical\nDisableViaHeader Yes\n"
	}, func(_, file string) []string { return []string{"-d", "-c", file} }},
	{"squid", func(port string) string {
		return "http_port 127.0.0.1:" + port + "\nhttp_access allow all\ncache deny all\naccess_log none\ncache_log /dev/null\n" +
			"cache_store_log none\npid_filename none\nvia off\nforwarded_for delete\nclient_db off\nshutdown_lifetime 1 second\nvisible_hostname bench\n"
	}, func(_, file string) []string { return []string{"-N", "-f", file} }},
	{"smokescreen", nil, func(port, _ string) []string {
		return []string{"--listen-ip", "127.0.0.1", "--listen-port", port, "--allow-range", "127.0.0.0/8"}
	}},
}

// unbound is the name server that names are measured beside.
var unbound = recipe{"unbound", func(port string) string {
	return "server:\n  interface: 127.0.0.1@" + port + "\n  do-daemonize: no\n  chroot: \"\"\n  username: \"\"\n  use-syslog: no\n  num-threads: 2\n" +
		"  so-reuseport: yes\n  pidfile: \"\"\n  local-zone: \"" + benchZone + ".\" redirect\n  local-data: \"" + benchZone + ". 60 IN A 192.0.2.1\"\n" +
		"  access-control: 127.0.0.0/8 allow\n  module-config: \"iterator\"\n"
}, func(_, file string) []string { return []string{"-d", "-c", file} }}

// An unwalled is our own proxy without a sandbox around it, which stands where
// the peers do.
type unwalled struct{ loopback, socket, relay peer }

// unwalled starts it. It opens the port of the origin alone.
func (r *rig) unwalled(ctx context.Context, origin string) (u unwalled, end func(), err error) {
	w, err := workspace.Find(".")
	if err != nil {
		return u, nil, err
	}
	program, sockets := filepath.Join(r.dir, "unwalled"), filepath.Join(r.dir, "unwalled-sockets")
	if out, err := w.Go(ctx, "sandbox-proxy", nil, "build", "-o", program, "./internal/unwalled"); err != nil {
		return u, nil, fmt.Errorf("%w: %s", err, out)
	}
	_, opens, err := net.SplitHostPort(origin)
	if err != nil {
		return u, nil, err
	}
	joint, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return u, nil, err
	}
	joint.Close()
	_, relayed, _ := strings.Cut(joint.Addr().String(), ":")
	p, end, err := recipe{program, nil, func(port, _ string) []string { return []string{port, relayed, sockets, opens} }}.start(ctx, r.dir)
	if err != nil {
		return u, nil, err
	}
	u.loopback, u.socket, u.relay = p, p, p
	u.socket.at, u.relay.at = "unix://"+filepath.Join(sockets, "out.sock"), joint.Addr().String()
	return u, end, nil
}

// startPeers starts the peers that are here, and gives what ends them.
func startPeers(ctx context.Context, dir string) (peers []peer, stop func()) {
	var stops []func()
	stop = func() {
		for _, f := range stops {
			f()
		}
	}
	for _, r := range recipes {
		p, end, err := r.start(ctx, dir)
		if err != nil {
			fmt.Printf("%s: not measured: %v\n", r.program, err)
			continue
		}
		peers, stops = append(peers, p), append(stops, end)
	}
	return peers, stop
}

func (r recipe) start(ctx context.Context, dir string) (peer, func(), error) {
	program, err := exec.LookPath(r.program)
	if err != nil {
		if program, err = exec.LookPath(filepath.Join("/usr/sbin", r.program)); err != nil {
			return peer{}, nil, err
		}
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return peer{}, nil, err
	}
	at := free.Addr().String()
	free.Close()
	_, port, _ := strings.Cut(at, ":")
	file := filepath.Join(dir, r.program)
	if r.settings != nil {
		if err := os.WriteFile(file, []byte(r.settings(port)), 0o644); err != nil {
			return peer{}, nil, err
		}
	}
	cmd := exec.CommandContext(ctx, program, r.argv(port, file)...)
	if err := cmd.Start(); err != nil {
		return peer{}, nil, err
	}
	end := func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	for until := time.Now().Add(one); ; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", at); err == nil {
			c.Close()
			return peer{r.program, at, cmd.Process.Pid}, end, nil
		} else if time.Now().After(until) {
			end()
			return peer{}, nil, err
		}
	}
}

// by does a load through a peer.
func (r *rig) by(p peer, self string) func(context.Context, load) (measured, error) {
	at := p.at
	if !strings.Contains(at, "://") {
		at = "http://" + at
	}
	env := append(append([]string{}, r.env...), "HTTP_PROXY="+at)
	return func(ctx context.Context, l load) (measured, error) {
		return r.measure(ctx, append([]string{self}, l.args()...), env, p.pid)
	}
}
