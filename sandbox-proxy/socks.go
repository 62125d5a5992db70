package proxy

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"io"
	"log"
	"net"
	"sync/atomic"
	"time"

	"github.com/armon/go-socks5"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// Replies of SOCKS5 (RFC 1928 section 6).
const (
	replyGeneral     = 1
	replyNotAllowed  = 2
	replyUnreachable = 4
	replyCommand     = 7
)

// serveSOCKS answers a SOCKS5 connection. The library reads the handshake and
// writes the replies; that is all it is let do. It is given a connection that
// is only a window on ours, and a far side that is none, so that what it
// copies ends at once and the tunnel is the proxy's own.
func (p *Proxy) serveSOCKS(g *gate) {
	s := &socksCall{proxy: p, gate: g}
	config := &socks5.Config{
		Resolver: noResolver{},
		Rules:    s,
		Dial:     s.dial,
		Logger:   log.New(io.Discard, "", 0),
	}
	if p.config.Secret != "" {
		config.Credentials = secretPassword(p.config.Secret)
	}
	server, err := socks5.New(config)
	if err != nil {
		g.Close()
		return
	}
	g.SetReadDeadline(time.Now().Add(headTime))
	g.await()
	err = s.handshake(server)
	g.arrived()
	if err != nil || s.call == nil && !s.own || !s.told.Load() {
		if s.call != nil {
			s.call.failed(cmp.Or(s.why, wordsLeft))
		}
		g.SetReadDeadline(time.Now().Add(lingerTime))
		g.linger()
		g.Close()
		return
	}
	g.SetDeadline(time.Time{})
	g.push(s.early)
	if s.own {
		p.serveWithin(g)
		return
	}
	p.carry(g, s.call)
}

// handshake has the library serve the window. What it does not expect it
// panics on, which must end one call and not all.
func (s *socksCall) handshake(server *socks5.Server) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errSOCKS
		}
	}()
	return server.ServeConn(&socksWindow{gate: s.gate, call: s})
}

// secretPassword takes any user with the secret as the password.
type secretPassword string

func (s secretPassword) Valid(_, password string) bool {
	return subtle.ConstantTimeCompare([]byte(s), []byte(password)) == 1
}

// noResolver leaves names as they are: the library resolves before it asks
// whether a name is allowed.
type noResolver struct{}

func (noResolver) Resolve(ctx context.Context, _ string) (context.Context, net.IP, error) {
	return ctx, nil, nil
}

// A socksCall is one handshake's call.
type socksCall struct {
	proxy *Proxy
	gate  *gate
	call  *call
	own   bool        // it is of the proxy itself
	reply byte        // what the program is answered in place of the library's word
	why   string      // the call came to nothing
	told  atomic.Bool // the program has been told that it is connected
	early []byte      // what it said behind the handshake
}

// Allow is asked by the library before it dials. Names with a NUL, empty and
// over-long ones are refused here with the rest.
func (s *socksCall) Allow(ctx context.Context, r *socks5.Request) (context.Context, bool) {
	s.gate.arrived()
	if r.Command != socks5.ConnectCommand {
		s.reply = replyCommand
		return ctx, false
	}
	host := r.DestAddr.FQDN
	if len(r.DestAddr.IP) > 0 {
		host = r.DestAddr.IP.String()
	}
	if s.own = s.proxy.itself(authority{host: host, port: uint16(r.DestAddr.Port)}); s.own {
		return ctx, true
	}
	c, refused := s.proxy.call(judge.Call{By: judge.BySOCKS, Host: host, Port: uint16(r.DestAddr.Port)})
	if refused != nil {
		s.reply = replyNotAllowed
		switch refused.Reason {
		case Rate, Busy:
			s.reply = replyGeneral
		case judge.Unresolved:
			s.reply = replyUnreachable
		}
		return ctx, false
	}
	s.call = c
	return ctx, true
}

var errSOCKS = errors.New("not connected")

// dial connects the call that Allow was asked about, whatever address it is
// given: the library's is made of the name.
func (s *socksCall) dial(context.Context, string, string) (net.Conn, error) {
	if s.own {
		s.told.Store(true)
		return &socksFar{call: s}, nil
	}
	if s.call == nil {
		return nil, errSOCKS
	}
	if err := s.call.connect(); err != nil {
		s.why = failureOf(err).detail
		s.reply = replyUnreachable // one word for all that can go wrong out there
		if noRoom(err) {
			s.reply = replyGeneral
		}
		return nil, errSOCKS
	}
	s.told.Store(true)
	return &socksFar{call: s}, nil
}

// socksWindow is the program's connection as the library sees it.
type socksWindow struct {
	*gate
	call *socksCall
}

// Read gives what the gate has read, then the connection's.
func (w *socksWindow) Read(b []byte) (int, error) {
	if w.gate.r == w.gate.w {
		if err := w.gate.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(b, w.gate.buf[w.gate.r:w.gate.w])
	w.gate.r += n
	return n, nil
}

// Write puts the call's reply where the library has its own word for why not.
func (w *socksWindow) Write(b []byte) (int, error) {
	if w.call.reply != 0 && len(b) > 2 && b[0] == socksVersion && b[1] != 0 {
		b = append([]byte(nil), b...)
		b[1] = w.call.reply
	}
	return w.gate.Conn.Write(b)
}

// WriteTo ends the library's copying from the program before it starts.
func (w *socksWindow) WriteTo(io.Writer) (int64, error) { return 0, nil }

// Close leaves the connection to the tunnel.
func (w *socksWindow) Close() error { return nil }

// socksFar is the far side as the library sees it: its address, for the reply,
// and nothing to copy.
type socksFar struct {
	net.Conn // nil: nothing else is called
	call     *socksCall
}

// LocalAddr is a TCP address whatever the way out is: the library takes
// nothing else, and ends the process on it. It is no address of this machine,
// which is none of the program's business.
func (f *socksFar) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4zero} }

// Write keeps what the library has read past the handshake.
func (f *socksFar) Write(b []byte) (int, error) {
	f.call.early = append(f.call.early, b...)
	return len(b), nil
}

func (f *socksFar) WriteTo(io.Writer) (int64, error) { return 0, nil }

func (f *socksFar) Read([]byte) (int, error) { return 0, io.EOF }

func (f *socksFar) Close() error { return nil }
