package relay

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// What is said on in.sock: two bytes, the port, and one byte in answer. Then the
// connection is the port's.
const (
	connected = 0
	refused   = 1
)

// askTime bounds the asking, on both sides.
const askTime = 20 * time.Second

// ErrRefused says that a port inside could not be connected to.
var ErrRefused = errors.New("nothing answers at that port inside")

// ServeIn answers on in.sock: it joins each connection to the port inside that
// it asks for. It owns the listener.
func (r *Relay) ServeIn(l net.Listener, dial func(ctx context.Context, port uint16) (net.Conn, error)) {
	r.accept(l, func(c net.Conn) {
		var b [2]byte
		c.SetDeadline(time.Now().Add(askTime))
		if _, err := io.ReadFull(c, b[:]); err != nil {
			c.Close()
			return
		}
		ctx, cancel := context.WithTimeout(r.ctx, dialTime)
		defer cancel()
		near, err := dial(ctx, binary.BigEndian.Uint16(b[:]))
		if err != nil {
			c.Write([]byte{refused})
			c.Close()
			return
		}
		if _, err := c.Write([]byte{connected}); err != nil {
			near.Close()
			c.Close()
			return
		}
		r.join(near, c)
	})
}

// DialIn asks for a port inside on a connection to in.sock, which is the port's
// from then on. On failure it is closed.
func DialIn(ctx context.Context, c net.Conn, port uint16) error {
	err := ask(ctx, c, port)
	if err != nil {
		c.Close()
	}
	return err
}

func ask(ctx context.Context, c net.Conn, port uint16) error {
	c.SetDeadline(time.Now().Add(askTime))
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := c.Write(binary.BigEndian.AppendUint16(nil, port)); err != nil {
		return fmt.Errorf("the relay inside: %w", err)
	}
	var b [1]byte
	if _, err := io.ReadFull(c, b[:]); err != nil {
		return fmt.Errorf("the relay inside: %w", err)
	}
	if b[0] != connected {
		return fmt.Errorf("port %d: %w", port, ErrRefused)
	}
	if !stop() {
		return context.Cause(ctx)
	}
	return c.SetDeadline(time.Time{})
}
