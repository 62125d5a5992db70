package cli

import (
	"context"
	"fmt"
	"net"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/inside"
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
		all, err := proxy.ListenLoopback(port)
		if err != nil {
			i.close()
			return fmt.Errorf("serve: %w: something on this machine has it: end that, or serve another port", err)
		}
		i.listeners[port] = all
	}
	return nil
}

// serve carries what comes in, once there is somebody inside.
func (i *inward) serve(p *proxy.Proxy, hand *inside.Handover) {
	if len(i.listeners) == 0 {
		return
	}
	i.sockets = hand.Sockets()
	for port, all := range i.listeners {
		for _, l := range all {
			go p.ServeInward(l, port, func(ctx context.Context) (net.Conn, error) { return i.sockets.Dial(ctx, port) })
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
