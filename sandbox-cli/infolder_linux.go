package cli

import (
	"context"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/child"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/folder"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/relay"
)

// A place is a proxy's folder: its sockets, and whose in.sock is taken.
type place struct {
	folder *folder.Folder
	out    net.Listener
	dns    net.Listener // once it is served
	agent  int          // the user that the relay inside runs as
}

// newPlace opens the folder and makes the sockets in it.
func newPlace(f wayFlags) (*place, error) {
	p := &place{agent: os.Geteuid()}
	group := folder.Anyone
	if f.Agent != nil {
		p.agent, group = *f.Agent, *f.Group
	} else if err := folder.Make(f.Dir); err != nil {
		return nil, err
	}
	var err error
	if p.folder, err = folder.Open(f.Dir, group); err != nil {
		return nil, err
	}
	if p.out, err = p.folder.Listen(folder.Out); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Close takes the sockets away.
func (p *place) Close() {
	for _, l := range []net.Listener{p.out, p.dns} {
		if l != nil {
			l.Close()
		}
	}
	p.folder.Close()
}

// dial connects to a port inside, by the relay that has in.sock.
func (p *place) dial(ctx context.Context, port uint16) (net.Conn, error) {
	c, err := p.folder.Dial(ctx, folder.In, p.agent)
	if err != nil {
		return nil, err
	}
	if err := relay.DialIn(ctx, c, port); err != nil {
		return nil, err
	}
	return c, nil
}

// serveIn serves a way in a folder.
func (w *way) serveIn(p *place, out net.Listener) error {
	dns, err := p.folder.Listen(folder.DNS)
	if err != nil {
		return err
	}
	p.dns = dns
	server := w.nameServer(true)
	w.serveProxy(out)
	go server.ServeTCP(dns)
	w.inward.carry(w.proxy, p.dial)
	return nil
}

// proxyInFolder is a proxy that others reach by sockets in a folder: by a relay
// in a sandbox that they start.
func proxyInFolder(s Streams, f proxyFlags, argv, env []string) (int, error) {
	place, err := newPlace(f.wayFlags)
	if err != nil {
		return 0, setupFailed(err)
	}
	defer place.Close()
	told := newTeller(s.Err, f)
	way, err := newWay(f, told, "")
	if err != nil {
		return 0, setupFailed(err)
	}
	defer way.Close()
	if err := way.inward.listen(f.Serve); err != nil {
		return 0, setupFailed(err)
	}
	if err := way.serveIn(place, place.out); err != nil {
		return 0, setupFailed(err)
	}
	if err := f.routed.seal(); err != nil {
		return 0, setupFailed(err)
	}
	status, err := holdOrRun(f.Hold, argv, env)
	way.end(status)
	return status, err
}

// holdOrRun waits until the proxy is stopped, or runs a command as it is.
func holdOrRun(hold bool, argv, env []string) (int, error) {
	if !hold {
		return child.RunAsItIs(argv, env)
	}
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(stopped)
	<-stopped
	return 0, nil
}
