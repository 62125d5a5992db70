package cli

import (
	"context"
	"fmt"
	"net"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/inside"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/relay"
)

// inward is what comes in to a sandbox: listeners on this machine's loopback,
// and what connects inside.
type inward struct {
	listeners map[uint16][]net.Listener
	sockets   *inside.Sockets
}

// listen takes the ports, before anything is started.
func (i *inward) listen(ports []uint16) error {
	i.listeners = map[uint16][]net.Listener{}
	for _, port := range ports {
		all, err := relay.Loopback(port)
		if err != nil {
			i.close()
			return fmt.Errorf("serve: %w: %s", err, freed(err, "serve another port"))
		}
		i.listeners[port] = all
	}
	return nil
}

// serve carries what comes in, once there is somebody inside.
func (i *inward) serve(p *proxy.Proxy, hand *inside.Handover) {
	if len(i.listeners) > 0 {
		i.sockets = hand.Sockets()
		i.carry(p, i.sockets.Dial)
	}
}

// carry carries it to what dial connects to.
func (i *inward) carry(p *proxy.Proxy, dial func(context.Context, uint16) (net.Conn, error)) {
	for port, all := range i.listeners {
		for _, l := range all {
			go p.ServeInward(l, port, func(ctx context.Context) (net.Conn, error) { return dial(ctx, port) })
		}
	}
}

func (i *inward) close() {
	for _, all := range i.listeners {
		for _, l := range all {
			l.Close()
		}
	}
	if i.sockets != nil {
		i.sockets.Close()
	}
}
