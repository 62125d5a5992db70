package inside

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/socket"
)

// connectWait bounds a connection to a port inside, where a server may have
// more waiting than it takes.
const connectWait = 15 * time.Second

// Sockets makes connections inside the namespace from outside of it: a socket
// belongs to the network it was made in, whoever connects it.
type Sockets struct {
	check checker
	conn  *net.UnixConn
	turn  chan struct{} // one question at a time
	owed  int           // answers to come that nobody waits for any more
}

// Sockets takes the control socket over, after [Handover.Go]; [Want.Sockets]
// must have been set. It ends with the process inside.
func (h *Handover) Sockets() *Sockets {
	here, _ := ourNamespace() // a zero is no network's: what is compared with it fails
	return &Sockets{check: checker{here: here, there: h.there}, conn: h.ours, turn: make(chan struct{}, 1)}
}

// Close ends the making. Connections stay.
func (s *Sockets) Close() error { return s.conn.Close() }

// Dial connects to a port of 127.0.0.1 inside or, where nothing listens there,
// of ::1.
func (s *Sockets) Dial(ctx context.Context, port uint16) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectWait)
	defer cancel()
	c, err := s.dial(ctx, netip.AddrPortFrom(loopback4, port))
	if errors.Is(err, unix.ECONNREFUSED) {
		if six, err6 := s.dial(ctx, netip.AddrPortFrom(loopback6, port)); err6 == nil {
			return six, nil
		}
	}
	return c, err
}

func (s *Sockets) dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	fd, err := s.socket(ctx, to.Addr())
	if err != nil {
		return nil, err
	}
	c, err := socket.Connect(ctx, fd, to)
	if err != nil {
		return nil, fmt.Errorf("%s inside: %w", to, err)
	}
	return c, nil
}

// socket gets a socket of the network inside that is not connected yet.
func (s *Sockets) socket(ctx context.Context, of netip.Addr) (int, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return -1, context.Cause(ctx)
	}
	if err := s.conn.SetDeadline(time.Time{}); err != nil {
		return -1, fmt.Errorf("%w: %w", ErrGone, err)
	}
	// Whoever stops the terminal stops the process inside, and an answer may
	// come after it was given up.
	stop := context.AfterFunc(ctx, func() { s.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := s.conn.Write([]byte{kindAsk, family(of)}); err != nil {
		return -1, s.gone(ctx, err)
	}
	for s.owed++; ; {
		m, fds, whole, err := s.answer()
		if err != nil {
			return -1, s.gone(ctx, err)
		}
		if s.owed--; s.owed > 0 {
			closeFDs(fds)
			continue
		}
		if err := s.took(m, fds, whole, of); err != nil {
			closeFDs(fds)
			return -1, err
		}
		return fds[0], nil
	}
}

func (s *Sockets) gone(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: %w", ErrGone, err)
}

// answer reads one answer; whole says that nothing of it was cut off.
func (s *Sockets) answer() (m []byte, fds []int, whole bool, err error) {
	buf, oob := make([]byte, 16), make([]byte, unix.CmsgSpace(4*4))
	n, oobn, flags, _, err := s.conn.ReadMsgUnix(buf, oob) // close-on-exec is set by it
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil {
		return nil, nil, false, err
	}
	fds, err = rights(oob[:oobn])
	return buf[:n], fds, err == nil && flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) == 0, nil
}

// took checks an answer: it holds one socket, as it was asked for.
func (s *Sockets) took(m []byte, fds []int, whole bool, of netip.Addr) error {
	if len(m) == 2 && m[0] == kindNone && len(fds) == 0 {
		return fmt.Errorf("a socket inside: %w", syscall.Errno(m[1]))
	}
	if len(m) != 2 || m[0] != kindSocket || m[1] != family(of) || len(fds) != 1 || !whole {
		return fmt.Errorf("%w: %d bytes and %d descriptors for a socket", errMessage, len(m), len(fds))
	}
	if err := checkKind(fds[0], domainOf(of), unix.SOCK_STREAM, 0, unix.IPPROTO_TCP); err != nil {
		return err
	}
	if err := s.check.checkNetwork(fds[0]); err != nil {
		return err
	}
	return nil
}
