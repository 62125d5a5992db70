package relay

import (
	"errors"
	"net"
	"time"
)

// maxQuery is as much of a query as is answered, in bytes (RFC 1035 section
// 4.2.1, and what EDNS adds).
const maxQuery = 1232

// RefuseNames answers every query that comes in packets with "no such name"
// (NXDOMAIN), at once: left to time out, programs would wait and ask again. It
// owns the socket.
func (r *Relay) RefuseNames(p net.PacketConn) {
	if !r.add(p) {
		return
	}
	defer r.drop(p)
	defer p.Close()
	b := make([]byte, maxQuery)
	for wait := acceptWait; ; {
		n, from, err := p.ReadFrom(b)
		if err == nil {
			wait = acceptWait
			if a := noName(b[:n]); a != nil {
				p.WriteTo(a, from)
			}
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		select {
		case <-time.After(wait):
			wait = min(2*wait, acceptWaitMost)
		case <-r.ctx.Done():
			return
		}
	}
}

// Of a DNS header (RFC 1035 section 4.1.1).
const (
	headerSize = 12
	isAnswer   = 0x80 // QR, in the third byte
	kept       = 0x79 // opcode and RD, in the third byte
	available  = 0x80 // RA, in the fourth
	notThere   = 3    // NXDOMAIN
)

// noName is the answer to a query, or nil where it is none: the header and the
// question again, and nothing else.
func noName(q []byte) []byte {
	if len(q) < headerSize || q[2]&isAnswer != 0 || q[4] != 0 || q[5] != 1 {
		return nil
	}
	end := headerSize
	for { // the labels of the name
		if end >= len(q) || q[end] > 63 {
			return nil
		}
		n := int(q[end])
		end += 1 + n
		if n == 0 {
			break
		}
	}
	if end += 4; end > len(q) { // type and class
		return nil
	}
	a := append([]byte(nil), q[:end]...)
	a[2] = a[2]&kept | isAnswer
	a[3] = available | notThere
	clear(a[6:headerSize])
	return a
}
