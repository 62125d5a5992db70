package proxy

import (
	"container/list"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// A gate stands between a connection and the HTTP server that reads it. It
// lets through one whole head at a time, after reading it strictly, and then
// exactly that request's body: so the server sees no head that was not read
// here, and each request can be held against what was read ([gate.take]).
//
// Of a CONNECT or a websocket's head nothing that follows is let through: it
// is not HTTP's.
type gate struct {
	net.Conn
	proxy *Proxy
	into  *inside // the host that all requests are for; nil: each names its own
	own   bool    // it is in a tunnel to the proxy itself

	// Of the goroutine that reads.
	buf       []byte
	r, w      int // buf[r:w] is read and not given
	mode      gateMode
	give      int // bytes of the head that are still to be given
	left      int64
	chunks    chunks
	headError *badHead

	wrote atomic.Int64               // when something was last written, after epoch
	says  atomic.Pointer[statusLine] // of the answer that is about to be written

	mu       sync.Mutex
	wake     *sync.Cond
	heads    []*head   // given and not yet taken
	deadline time.Time // as the server set it
	headBy   time.Time // when the head that has begun must be whole
	leftBy   time.Time // when the rest of a body that has been answered must be there
	busy     bool      // a request is being answered
	taken    bool      // it is no server's anymore
	attended bool      // and only for as long as its program is there
	closed   bool
	waits    *list.Element // in Proxy.waiting
}

type gateMode uint8

const (
	betweenHeads gateMode = iota
	inHead
	inBody
	inChunks
	notHTTP // what follows is not for the server
)

// substitute is what the server reads in place of a head that is refused: the
// answer is the handler's, and it is the last on the connection.
const substitute = "GET / HTTP/1.1\r\nHost: refused.invalid\r\nConnection: close\r\n\r\n"

func (p *Proxy) newGate(c net.Conn, into *inside) *gate {
	g := &gate{Conn: c, proxy: p, into: into, buf: newBuffer(firstBytes)}
	g.wake = sync.NewCond(&g.mu)
	return g
}

// nextHead waits for a whole head, reads it, and notes it; that it has arrived is
// noted by who takes it. A head that is refused is noted too: the error is the
// connection's.
func (g *gate) nextHead() (*head, error) {
	g.await()
	for skipped := false; ; {
		if whole, maybe := emptyLine(g.buf[g.r:g.w]); !skipped && whole {
			g.r, skipped = g.r+2, true
		} else if !skipped && maybe {
			if err := g.fill(); err != nil {
				return nil, err
			}
			continue
		}
		n, wrong := headEnd(g.buf[g.r:g.w])
		if wrong == nil && n == 0 {
			if g.w > g.r {
				g.begun()
			}
			switch err := g.fill(); {
			case err == nil:
				continue
			case err == errFull:
				wrong = errFull
			case g.late(err):
				wrong = bad(http.StatusRequestTimeout, "a head that was not whole in time")
			default:
				return nil, err
			}
		}
		var h *head
		if wrong == nil {
			h, wrong = parseHead(g.buf[g.r : g.r+n])
		}
		if wrong == nil {
			h.size = n
		}
		if wrong != nil {
			h, n = &head{bad: wrong}, 0
		}
		g.give = n
		g.mu.Lock()
		g.headBy = time.Time{}
		g.apply()
		g.mu.Unlock()
		return h, nil
	}
}

// await and arrived bracket the wait for a head.
func (g *gate) await()   { g.proxy.await(g) }
func (g *gate) arrived() { g.proxy.arrived(g) }

// begun starts the clock of a head at its first byte.
func (g *gate) begun() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.headBy.IsZero() {
		g.headBy = time.Now().Add(headTime)
		g.apply()
	}
}

// late says whether a read failed since the head's time was over, and not
// since the server stopped the read.
func (g *gate) late(err error) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return timedOut(err) && !g.headBy.IsZero() && !time.Now().Before(g.headBy)
}

func timedOut(err error) bool {
	ne, ok := err.(net.Error)
	return ok && ne.Timeout()
}

// admitHead sets the gate to let a head and its body through.
func (g *gate) admitHead(h *head) {
	if h.bad == nil && g.into == nil {
		if h.local = h.target[0] == '/'; h.local {
			h.path = h.target
		} else if h.method != http.MethodConnect {
			h.path, h.local = g.proxy.local(h.target)
		}
	}
	if h.local {
		h.bad = localTarget(h.path)
	}
	switch {
	case h.bad != nil:
		g.buf, g.r, g.w, g.give = []byte(substitute), 0, len(substitute), len(substitute)
		g.left, g.headError = 0, h.bad
	case h.chunked:
		g.left, g.chunks = -1, chunks{}
	default:
		g.left = max(h.length, 0)
	}
	h.given, h.into = h.target, g.into
	switch {
	case h.bad != nil:
	case !h.local:
		g.showTarget(h, "/")
	case h.path != h.target:
		g.showTarget(h, h.path)
	}
	g.mode = inHead
	g.mu.Lock()
	g.heads = append(g.heads, h)
	g.busy, g.leftBy = true, time.Time{}
	g.mu.Unlock()
}

// showTarget shows the server another target: in place of one that it would take
// apart one that says nothing, since the proxy has read it, and what the host is
// asked for goes on as it came; and the path alone where the proxy itself is
// asked as a proxy is. The line gets no longer by it.
func (g *gate) showTarget(h *head, as string) {
	h.given = as
	line := h.method + " " + as + " HTTP/1." + strconv.Itoa(h.minor)
	was := len(h.method) + 1 + len(h.target) + len(" HTTP/1.1")
	g.r, g.give = g.r+was-len(line), g.give-(was-len(line))
	copy(g.buf[g.r:], line)
}

// Read gives the server what it may see.
func (g *gate) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		switch g.mode {
		case betweenHeads:
			h, err := g.nextHead()
			if err == io.EOF {
				return 0, g.ended()
			}
			if err != nil {
				return 0, err
			}
			g.admitHead(h)
		case inHead:
			n := copy(p, g.buf[g.r:g.r+g.give])
			g.r, g.give = g.r+n, g.give-n
			if g.give == 0 {
				g.afterHead()
			}
			return n, nil
		case inBody, inChunks:
			if !g.answering() {
				return g.leftover(p)
			}
			return g.body(p)
		case notHTTP:
			return 0, g.hold()
		}
	}
}

func (g *gate) afterHead() {
	g.mu.Lock()
	last := g.heads[len(g.heads)-1]
	g.mu.Unlock()
	switch {
	case last.takesOver() || last.bad != nil:
		g.mode = notHTTP
	case g.left < 0:
		g.mode = inChunks
	case g.left > 0:
		g.mode = inBody
	default:
		g.mode = betweenHeads
	}
}

// take gives the head of the request that the server has just read. A request
// that is not what was read here is refused.
func (g *gate) take(r *http.Request) *head {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.heads) == 0 {
		return &head{bad: malformed("a request that was not read")}
	}
	h := g.heads[0]
	g.heads = g.heads[1:]
	if h.bad == nil && (r.Method != h.method || r.RequestURI != h.given || r.ProtoMajor != 1 || r.ProtoMinor != h.minor) {
		return &head{bad: malformed("a request that can be read in two ways")}
	}
	return h
}

// answered notes that the request is over. Its connection is one that waits from
// then on.
func (g *gate) answered() {
	g.mu.Lock()
	g.busy, g.attended = len(g.heads) > 0, false
	if g.leftBy.IsZero() {
		g.leftBy = time.Now().Add(lingerTime)
	}
	g.wake.Broadcast()
	taken := g.taken
	g.mu.Unlock()
	if taken {
		return
	}
	// What is left of the answer is sent behind its handler, to a program that
	// may never read it.
	g.proxy.wait(g)
	g.mu.Lock()
	closed := g.closed
	g.mu.Unlock()
	if closed {
		g.arrived()
	}
}

func (g *gate) Write(p []byte) (int, error) {
	n, err := g.write(p)
	g.moved()
	return n, err
}

// epoch is what times are counted from that are held as a number. The machine's
// clock may be set; this one goes on.
var epoch = time.Now()

// moved notes that something of an answer has moved.
func (g *gate) moved() { g.wrote.Store(int64(time.Since(epoch))) }

// drains is how long something has yet to move, for a program that has closed its
// side.
func (g *gate) drains() time.Duration {
	return tunnelDrain - (time.Since(epoch) - time.Duration(g.wrote.Load()))
}

// write writes what the server says of an answer, in the words of the host.
func (g *gate) write(p []byte) (int, error) {
	says := g.says.Load()
	if says == nil {
		return g.Conn.Write(p)
	}
	b, its := says.in(p)
	if !its {
		return g.Conn.Write(p) // an answer before the answer
	}
	g.says.Store(nil)
	if n, err := g.Conn.Write(b); err != nil {
		return min(n, len(p)), err
	}
	return len(p), nil
}

// SetReadDeadline sets the server's deadline. That of a head that has begun
// stays.
func (g *gate) SetReadDeadline(t time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.deadline = t
	g.wake.Broadcast()
	return g.apply()
}

// SetDeadline sets both deadlines.
func (g *gate) SetDeadline(t time.Time) error {
	g.Conn.SetWriteDeadline(t)
	return g.SetReadDeadline(t)
}

// apply sets the earlier of the two deadlines. g.mu is held.
func (g *gate) apply() error {
	t := g.deadline
	if !g.headBy.IsZero() && (t.IsZero() || g.headBy.Before(t)) {
		t = g.headBy
	}
	return g.Conn.SetReadDeadline(t)
}

// Close closes the connection and lets go of it.
func (g *gate) Close() error {
	g.mu.Lock()
	g.closed = true
	g.wake.Broadcast()
	g.mu.Unlock()
	g.proxy.drop(g)
	g.arrived()
	if g.into != nil {
		if c := g.into.warm.Swap(nil); c != nil {
			c.unused()
		}
	}
	return g.Conn.Close()
}

// Cut ends the connection with a reset.
func (g *gate) Cut() {
	reset(g.Conn)
	g.Close()
}

// leave lets go of the connection without closing it: it is another's now.
func (g *gate) leave() { g.proxy.drop(g) }

// reset closes a connection so that the other side sees it was cut.
func reset(c net.Conn) {
	if tcp, ok := c.(interface{ SetLinger(int) error }); ok {
		tcp.SetLinger(0)
	}
	c.Close()
}
