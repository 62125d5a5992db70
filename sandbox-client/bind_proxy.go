package client

import (
	"bytes"
	"context"
	"fmt"
	"net"

	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// BindProxy binds the blank proxy that listens on a control socket (lnk
// sandbox proxy --blank --control <socket>), and waits for its answer. A bind
// that it refuses is [ErrRequest], and leaves it blank. The bind holds
// secrets, and a socket is whoever's that made it: its folder must be one that
// only the user of the proxy, or root, writes.
func BindProxy(ctx context.Context, socket string, bind ProxyBind) error {
	bad := func(err error) error {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return fmt.Errorf("binding the proxy at %s: %w", socket, err)
	}
	var line bytes.Buffer
	if err := WriteProxyBind(&line, bind); err != nil {
		return fmt.Errorf("binding the proxy at %s: %w", socket, err)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return bad(err)
	}
	defer conn.Close()
	// Closing ends a write or a read that waits for a proxy that hangs.
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	_, unsent := conn.Write(line.Bytes())
	// A proxy that refuses who calls answers without reading.
	bound, err := ReadProxyBound(conn)
	switch {
	case err != nil && unsent != nil:
		return bad(unsent)
	case err != nil:
		return bad(fmt.Errorf("its answer: %v", err))
	}
	if bound.Error != "" {
		return bad(form.Refuse(form.OneLine(bound.Error)))
	}
	return nil
}
