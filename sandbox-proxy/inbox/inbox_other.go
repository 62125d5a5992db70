//go:build !linux

package inbox

import "net"

// Of gives an inbox of a socket, for packets of up to most bytes.
func Of(p net.PacketConn, most int) Inbox { return newSingle(p, most) }
