//go:build !linux

package socket

import (
	"context"
	"net"
	"net/netip"
)

// Dial connects to an address, to that one only, and has keep applied to the
// connection. Errors are those of package net.
func Dial(ctx context.Context, to netip.AddrPort, keep net.KeepAliveConfig) (net.Conn, error) {
	return dialNet(ctx, to, keep)
}
