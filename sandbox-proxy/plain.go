package proxy

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"sync"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// A plainServer is net/http's server on connections that are handed to it.
type plainServer struct {
	server http.Server
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPlainServer(p *Proxy) *plainServer {
	s := &plainServer{conns: make(chan net.Conn), closed: make(chan struct{})}
	s.server = http.Server{
		Handler:                      http.HandlerFunc(p.servePlain),
		ReadHeaderTimeout:            betweenTime, // the gate holds heads to headTime
		IdleTimeout:                  betweenTime,
		MaxHeaderBytes:               maxHeadBytes,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     log.New(io.Discard, "", 0),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, gateKey{}, c)
		},
	}
	s.server.Protocols = new(http.Protocols)
	s.server.Protocols.SetHTTP1(true)
	p.work.Go(func() { s.server.Serve(s) })
	return s
}

type gateKey struct{}

func gateOf(r *http.Request) *gate {
	g, _ := r.Context().Value(gateKey{}).(*gate)
	return g
}

// serve gives a connection to the server, whose it is from then on.
func (s *plainServer) serve(g *gate) {
	select {
	case s.conns <- g:
	case <-s.closed:
		g.Close()
	}
}

func (s *plainServer) close() { s.server.Close() }

// Accept gives the server the connections.
func (s *plainServer) Accept() (net.Conn, error) {
	select {
	case c := <-s.conns:
		return c, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (s *plainServer) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

// Addr is nowhere: the server listens on no address.
func (s *plainServer) Addr() net.Addr { return &net.TCPAddr{} }

// servePlain answers a request that the server has read.
func (p *Proxy) servePlain(w http.ResponseWriter, r *http.Request) {
	g := gateOf(r)
	g.arrived()
	h := g.take(r)
	defer g.answered()
	if !p.enter() {
		panic(http.ErrAbortHandler)
	}
	defer p.work.Done()
	if h.bad != nil {
		p.badAnswer(judge.ByHTTP, h, h.bad).write(w, h)
		return
	}
	if !h.local {
		aheadOfBody(w, r)
	}
	if r.Method == http.MethodConnect {
		p.connectLater(w, g, h)
		return
	}
	at, wrong := p.requestTarget(h, g.into)
	if wrong != nil {
		p.badAnswer(judge.ByHTTP, h, wrong).write(w, h)
		drain(w, r)
		return
	}
	if at.local {
		p.serveLocal(w, r, h)
		return
	}
	p.forward(w, r, g, h, at)
}

// enter counts work that Close waits for.
func (p *Proxy) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.work.Add(1)
	}
	return !p.closed
}

// connectLater answers a CONNECT that came behind other requests on its
// connection.
func (p *Proxy) connectLater(w http.ResponseWriter, g *gate, h *head) {
	if g.into != nil || g.own {
		p.badAnswer(judge.ByConnect, h, malformed("a CONNECT inside a connection to one host")).write(w, h)
		return
	}
	if !g.takeOver(w) {
		return
	}
	p.serveConnect(g, h)
}

// takeOver takes a connection from the server, which has read nothing past the
// head: the gate lets nothing past one that takes over.
func (g *gate) takeOver(w http.ResponseWriter) bool {
	_, both, err := http.NewResponseController(w).Hijack()
	g.mu.Lock()
	g.taken = err == nil
	g.mu.Unlock()
	return err == nil && both.Reader.Buffered() == 0
}

// target is what a plain request asks for.
type target struct {
	authority
	says   string // the Host that goes on
	local  bool   // the proxy itself
	secure bool   // over https
}

// requestTarget reads what a plain request names, and holds its Host to it.
func (p *Proxy) requestTarget(h *head, into *inside) (target, *badHead) {
	path := h.target[0] == '/'
	if h.local {
		if !path {
			if at, _, _, err := parseAbsolute(h.target); err == nil {
				if wrong := h.hostIs(at, 80); wrong != nil {
					return target{}, wrong
				}
			}
		}
		return target{local: true}, nil
	}
	h.path = h.target
	if !path && (into == nil || h.target != wholeServer || h.method != http.MethodOptions) {
		at, secure, asked, err := parseAbsolute(h.target)
		if err != nil {
			return target{}, malformed(err.Error())
		}
		h.path = asked
		if wrong := h.hostIs(at, usualPort(secure)); wrong != nil {
			return target{}, wrong
		}
		if into == nil {
			return target{authority: at, secure: secure}, nil
		}
		if secure {
			return target{}, malformed("https inside a connection to one host")
		}
		return p.targetInside(into, at)
	}
	if !h.hosted {
		return target{authority: authority{into.host, into.port}}, nil // HTTP/1.0, which may go without
	}
	at, err := parseAuthority(h.host, 80)
	if err != nil {
		return target{}, malformed("a Host that is none: " + err.Error())
	}
	return p.targetInside(into, at)
}

// targetInside holds a request to the host that its connection goes to. Where
// that was named by its address, which may have been looked up by other means,
// a Host may be any that the rules name.
func (p *Proxy) targetInside(into *inside, at authority) (target, *badHead) {
	want := target{authority: authority{into.host, into.port}}
	if sameHost(p.named(at.host), into.host) && at.port == into.port {
		return want, nil
	}
	if into.literal && at.port == into.port {
		if d := p.config.Judge.Rule(judge.Call{By: into.by, Host: at.host, Port: at.port}); d.Allowed {
			want.says = hostPort(d.Host, d.Port, 80)
			return want, nil
		}
	}
	return target{}, bad(http.StatusMisdirectedRequest, "a request for "+judge.Shown(at.host)+", which is not the host this connection goes to")
}

// hostIs holds the Host to the target; port is the one that it may leave out.
func (h *head) hostIs(at authority, port uint16) *badHead {
	if !h.hosted {
		return nil
	}
	host, err := parseAuthority(h.host, port)
	if err != nil || !sameHost(host.host, at.host) || host.port != at.port {
		return malformed("a Host that is not the target")
	}
	return nil
}

// serveLocal answers a request that names the proxy itself.
func (p *Proxy) serveLocal(w http.ResponseWriter, r *http.Request, h *head) {
	if p.config.Local == nil {
		aheadOfBody(w, r)
		p.badAnswer(judge.ByHTTP, h, malformed("this is a proxy: the target is not an absolute http address")).write(w, h)
		drain(w, r)
		return
	}
	p.config.Local.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), headKey{}, h)))
}
