package blank

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// controlTime bounds the reading of a bind, and again its answer.
const controlTime = 10 * time.Second

// maxControls bounds binders that are listened to at once.
const maxControls = 8

// ErrBound says that there was a bind already.
var ErrBound = errors.New("this proxy is bound already, until it ends")

// A Control takes the one bind of a blank proxy.
type Control struct {
	// Peer gives the user at the other end of a connection.
	Peer func(net.Conn) (uid int, err error)
	// May says whether a user may bind.
	May func(uid int) bool
	// Bind makes the proxy what the bind says. After an error nothing of that
	// is left.
	Bind func(client.ProxyBind) error

	mu    sync.Mutex
	bound bool
}

// Serve answers on the control socket until it is closed. It owns the listener.
func (c *Control) Serve(l net.Listener) error {
	defer l.Close()
	var work sync.WaitGroup
	defer work.Wait()
	binders, others := make(chan struct{}, maxControls), make(chan struct{}, maxControls)
	for wait := acceptWait; ; {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			time.Sleep(wait) // descriptors may have run out
			wait = min(2*wait, acceptWaitMost)
			continue
		}
		wait = acceptWait
		// Who may not bind takes no place of those who may.
		places, err := binders, c.known(conn)
		if err != nil {
			places = others
		}
		select {
		case places <- struct{}{}:
		default:
			conn.Close()
			continue
		}
		work.Go(func() {
			defer func() { <-places }()
			defer conn.Close()
			if err == nil {
				conn.SetDeadline(time.Now().Add(controlTime))
				err = c.take(conn)
			}
			say(conn, err)
		})
	}
}

// say answers, and reads on a little: a caller that is still writing would not
// see the answer.
func say(conn net.Conn, err error) {
	bound := client.ProxyBound{}
	if err != nil {
		bound.Error = err.Error()
	}
	conn.SetDeadline(time.Now().Add(lingerTime))
	if client.WriteProxyBound(conn, bound) != nil {
		return
	}
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
	io.CopyN(io.Discard, conn, client.MaxBytes)
}

// known refuses who may not bind.
func (c *Control) known(conn net.Conn) error {
	uid, err := c.Peer(conn)
	if err != nil {
		return fmt.Errorf("who binds cannot be told: %w", err)
	}
	if !c.May(uid) {
		return fmt.Errorf("user %d may not bind this proxy", uid)
	}
	return nil
}

// take reads one bind and carries it out.
func (c *Control) take(conn net.Conn) error {
	bind, err := client.ReadProxyBind(conn)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bound {
		return ErrBound
	}
	if err := c.Bind(bind); err != nil {
		return err
	}
	c.bound = true
	return nil
}
