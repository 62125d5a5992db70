package proxy

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tunnel"
)

// A Proxy is one sandbox's way out. It may serve any number of listeners.
type Proxy struct {
	config   Config
	limiter  *rate.Limiter
	calls    chan struct{} // one in it a call that is open
	room     room
	inward   chan struct{} // one in it a connection to a port inside
	meter    tunnel.Meter
	valve    tunnel.Valve
	told     told
	plain    *plainServer
	origins  client                 // asks hosts
	kept     *pool                  // its connections that are kept
	sessions tls.ClientSessionCache // of hosts that are asked over https
	// forwarding has the upstream ask them; nil where there is none that does.
	forwarding     *client
	forwardingKept *http.Transport
	echoes         sync.Map // *redact.Redactor by an upstream's credentials

	ctx     context.Context // ends with the proxy
	cancel  context.CancelFunc
	work    sync.WaitGroup
	jobs    chan job     // connections to be served, for goroutines that wait for one
	workers atomic.Int32 // how many do
	wires   sync.Mutex   // held while the wire is read and what it says is done

	mu        sync.Mutex
	dials     dialPlaces
	closed    bool
	listeners map[net.Listener]bool // true: an address of this network
	open      map[cutter]bool
	waiting   list.List // of *gate, the longest waiting first
	wire      Wire
	dialing   context.Context // ends with a stop
	cutDials  context.CancelFunc
}

// A cutter is something open that can be ended at once.
type cutter interface{ Cut() }

// New makes a proxy. It listens nowhere and calls nobody until it serves.
func New(c Config) (*Proxy, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	p := &Proxy{
		config: c, room: roomIn(descriptors()), inward: make(chan struct{}, maxInward),
		listeners: map[net.Listener]bool{}, open: map[cutter]bool{},
	}
	p.calls = make(chan struct{}, p.room.calls)
	p.jobs = make(chan job)
	if c.PerMinute > 0 {
		p.limiter = rate.NewLimiter(rate.Limit(float64(c.PerMinute)/60), c.PerMinute)
	}
	if p.config.Dial == nil {
		p.config.Dial = dialSystem
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.dialing, p.cutDials = context.WithCancel(p.ctx)
	p.kept = newPool(p, p.room.idle)
	p.origins = client{kept: p.kept, fresh: transport{newOrigins(p.room.idle, onCall(p.dialOrigin))}}
	p.origins.fresh.DisableKeepAlives, p.origins.fresh.DialTLSContext = true, onCall(p.dialSecure)
	p.sessions = tls.NewLRUClientSessionCache(0)
	if c.Upstream.forwards() {
		kept, fresh := newOrigins(p.room.idle, onCall(p.dialForwarding)), newOrigins(p.room.idle, onCall(p.dialForwarding))
		kept.Proxy, fresh.Proxy, fresh.DisableKeepAlives = asProxy, asProxy, true
		p.forwarding, p.forwardingKept = &client{transport{kept}, transport{fresh}}, kept
	}
	p.plain = newPlainServer(p)
	return p, nil
}

// Serve answers HTTP and SOCKS5 on a listener until the proxy is closed, when
// it returns nil, or the listener is. It owns the listener.
func (p *Proxy) Serve(l net.Listener) error {
	return p.accept(l, func(c net.Conn) { p.serveProxy(c) })
}

// accept takes connections. It ends with the listener: running out of
// descriptors, or a connection that is gone before it is taken, is waited out.
func (p *Proxy) accept(l net.Listener, serve func(net.Conn)) error {
	if !p.addListener(l) {
		l.Close()
		return nil
	}
	defer p.dropListener(l)
	wait := acceptWait
	for {
		c, err := l.Accept()
		if err == nil {
			wait = acceptWait
			p.serveConn(job{serve, c})
			continue
		}
		if p.ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, net.ErrClosed) {
			return err
		}
		select {
		case <-time.After(wait):
			wait = min(2*wait, acceptWaitMost)
		case <-p.ctx.Done():
			return nil
		}
	}
}

func (p *Proxy) addListener(l net.Listener) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.listeners[l] = !elsewhere(l)
	p.work.Add(1)
	return true
}

func (p *Proxy) dropListener(l net.Listener) {
	l.Close()
	p.mu.Lock()
	delete(p.listeners, l)
	p.mu.Unlock()
	p.work.Done()
}

// Close ends everything: listeners, calls, and connections that wait. It
// returns when nothing of the proxy runs.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.cancel()
	for l := range p.listeners {
		l.Close()
	}
	p.mu.Unlock()
	p.cutAll()
	p.plain.close()
	p.closeIdle()
	p.work.Wait()
	return nil
}

// spawn runs f, which Close waits for, unless the proxy is closed.
func (p *Proxy) spawn(f func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.work.Go(f)
	return true
}

// add notes a part of a call that is open. It is false, and the part is cut,
// when the proxy is closed or its wire is stopped.
func (p *Proxy) add(c cutter) bool { return p.note(c, true) }

// addIdle notes a connection on which nothing was asked yet. A stopped wire has
// an answer for what will be.
func (p *Proxy) addIdle(g *gate) bool { return p.note(g, false) }

func (p *Proxy) note(c cutter, isCall bool) bool {
	p.mu.Lock()
	refuse := p.closed || isCall && p.wire.Stopped
	if !refuse {
		p.open[c] = true
	}
	p.mu.Unlock()
	if refuse {
		c.Cut()
	}
	return !refuse
}

func (p *Proxy) drop(c cutter) {
	p.mu.Lock()
	delete(p.open, c)
	p.mu.Unlock()
}

// cutAll ends all that is open.
func (p *Proxy) cutAll() {
	p.mu.Lock()
	all := make([]cutter, 0, len(p.open))
	for c := range p.open {
		all = append(all, c)
	}
	p.mu.Unlock()
	for _, c := range all {
		c.Cut()
	}
}

// closeIdle closes the connections that are kept for the next plain request.
func (p *Proxy) closeIdle() {
	p.kept.closeIdle(func(*kept) bool { return true })
	if p.forwarding != nil {
		p.forwardingKept.CloseIdleConnections()
	}
}

// Carried gives the bytes of every call let through so far, those that are
// open included: up from the program, down to it.
func (p *Proxy) Carried() (up, down uint64) { return p.meter.Up(), p.meter.Down() }

// admit puts a call to the judge and takes a place for it, which end gives back.
// What it gives is either a decision with what to dial, or a refusal, which it
// has told of. The place is taken before a name is looked up, which may take long
// and is work for others than the program: no more are looked up at once than
// calls may be open.
func (p *Proxy) admit(ctx context.Context, call judge.Call) (d judge.Decision, end func(), r *Refusal) {
	d = p.config.Judge.Rule(call)
	onward := p.config.Upstream.of(call.By, d.Host, d.Port).set()
	if r = p.admitRule(call.By, d); r == nil {
		end, r = p.begin(call.By, d)
	}
	if r == nil {
		d = p.config.Judge.Resolve(ctx, d, onward)
		if !d.Allowed {
			r = p.refusal(call.By, d)
		} else if p.self(d.Addrs) {
			r = p.refuse(call.By, d, Self, "this is the proxy itself")
		}
		if r != nil {
			end()
		}
	}
	if r != nil {
		p.tell(r)
		return judge.Decision{}, nil, r
	}
	return d, end, nil
}

// admitRule is what is decided before a name is resolved.
func (p *Proxy) admitRule(by judge.By, d judge.Decision) *Refusal {
	if r := p.wireRefuses(by, d); r != nil {
		return r
	}
	if !d.Allowed {
		return p.refusal(by, d)
	}
	if p.limiter == nil {
		return nil
	}
	token := p.limiter.Reserve()
	wait := token.Delay()
	if wait == 0 {
		return nil
	}
	token.Cancel()
	r := p.refuse(by, d, Rate, "more calls a minute than per_minute allows")
	r.retry = wait
	return r
}

// begin takes one of the places for calls that are open.
func (p *Proxy) begin(by judge.By, d judge.Decision) (end func(), r *Refusal) {
	select {
	case p.calls <- struct{}{}:
		return func() { <-p.calls }, nil
	default:
		r := p.refuse(by, d, Busy, "more calls are open than a sandbox may have")
		r.retry = time.Second
		return nil, r
	}
}
