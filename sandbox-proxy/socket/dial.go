package socket

import (
	"context"
	"errors"
	"net"
	"net/netip"
)

// errOther is of a connection that no rule has judged.
var errOther = errors.New("connected to another address than was dialled: this is a bug of the proxy")

// dialNet dials as package net does. An address that is written out is looked
// up nowhere.
func dialNet(ctx context.Context, to netip.AddrPort, keep net.KeepAliveConfig) (net.Conn, error) {
	d := net.Dialer{KeepAliveConfig: keep}
	c, err := d.DialContext(ctx, "tcp", to.String())
	if err != nil {
		return nil, err
	}
	if is := c.RemoteAddr().(*net.TCPAddr).AddrPort(); is.Port() != to.Port() || is.Addr().Unmap().WithZone("") != to.Addr().Unmap().WithZone("") {
		c.Close()
		return nil, errOther
	}
	return c, nil
}
