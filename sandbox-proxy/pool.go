package proxy

import (
	"bufio"
	"bytes"
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/socket"
)

// A pool asks hosts on connections that are kept for the next request (RFC 9112
// section 9.3), where a request has no body and may be sent again. It does so on
// the goroutine of whoever asks: nothing reads a connection that is kept, so that
// one is looked at before it is used, and every so often.
type pool struct {
	proxy *Proxy
	most  int // how many are kept, in all

	mu   sync.Mutex
	idle list.List               // of *kept, the one that has been there longest first
	of   map[origination][]*kept // the same, by where they go to, the last used last
	look *time.Timer             // while there are some
}

// An origination is where a connection goes to, as requests name it.
type origination struct {
	host   string // in normal form, and the port
	secure bool
}

// kept is a connection of a pool.
type kept struct {
	*origin
	to    origination
	r     *bufio.Reader
	head  io.LimitedReader // bounds heads
	place *list.Element    // while it is idle
	since time.Time        // it has been
	again bool             // it has been there before the request
}

func newPool(p *Proxy, most int) *pool {
	return &pool{proxy: p, most: most, of: map[origination][]*kept{}}
}

// A question is a request without a body.
type question struct {
	call   *call
	to     origination
	method string
	head   []byte
	// interim is told of answers before the answer.
	interim func(status int, header http.Header) error
}

// An asking is a question that is under way, and its answer until it has been
// read. Whoever has no more use for it leaves it, from any goroutine.
type asking struct {
	mu   sync.Mutex
	left bool
	end  func() // ends what is waited for
}

func (a *asking) leave() {
	a.mu.Lock()
	a.left = true
	end := a.end
	a.mu.Unlock()
	if end != nil {
		end()
	}
}

// waits notes what leave is to end; it is false where it was left already.
func (a *asking) waits(end func()) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.end = end
	return !a.left
}

var (
	errLeft       = errors.New("nobody waits for the answer anymore")
	errLongAnswer = errors.New("an answer with a head that is too long")
	errNoAnswer   = errors.New("answers before the answer, and no end of them")
	errUnasked    = errors.New("an answer to nothing that was asked")
)

// question asks it, and reads the answer's head. The answer's body is to be
// read to its end, or closed.
func (p *pool) question(a *asking, q *question) (got answered, err error) {
	for fresh := false; ; fresh = true {
		got.connected = false
		k, err := p.connection(a, q, fresh)
		if err != nil {
			return got, err
		}
		// A stop from here on cuts the connection. One before has ended the call,
		// also where the connection is from after it.
		if err := q.call.ctx.Err(); err != nil {
			k.Cut()
			return got, err
		}
		got.connected = true
		if !a.waits(k.Cut) {
			k.Close()
			return got, errLeft
		}
		resp, silent, err := k.ask(q)
		if err == nil && k.again && unasked(resp) {
			silent, err = true, errUnasked
		}
		if err == nil {
			got.names, got.hop = k.answered.read()
			got.more = k.r.Buffered() > 0
			got.resp = resp
			p.keep(a, k, resp)
			return got, nil
		}
		k.Close()
		// The far side may close a connection that is kept just as something is
		// sent on it: it is asked again then, on one that it has not seen.
		if !silent || !k.again || !a.waits(nil) {
			return got, err
		}
	}
}

// unasked says whether an answer is what some hosts say when they close a
// connection on which nothing was asked for long (RFC 9110 section 15.5.9).
func unasked(resp *http.Response) bool {
	return resp.StatusCode == http.StatusRequestTimeout && resp.Close
}

// connection gives one that is kept, or a new one.
func (p *pool) connection(a *asking, q *question, fresh bool) (*kept, error) {
	warm := q.call.warm.Load() != nil
	if !warm && !fresh {
		if k := p.take(q.to); k != nil {
			return k, nil
		}
	}
	ctx, cancel := context.WithCancel(q.call.ctx)
	defer cancel()
	if !a.waits(cancel) {
		return nil, errLeft
	}
	dial := p.proxy.dialOrigin
	if q.to.secure {
		dial = p.proxy.dialSecure
	}
	far, err := dial(ctx, q.call)
	a.waits(nil)
	if err != nil {
		return nil, err
	}
	return newKept(far, q.to, warm), nil
}

// newKept is a connection that may be kept; again is whether it has been there
// for long.
func newKept(far *origin, to origination, again bool) *kept {
	k := &kept{origin: far, to: to, again: again}
	k.head.R = far
	k.r = bufio.NewReaderSize(&k.head, firstBytes)
	return k
}

// ask sends a question and reads the answer's head. An error is silent where the
// far side has said nothing.
func (k *kept) ask(q *question) (resp *http.Response, silent bool, err error) {
	k.anew()
	k.head.N = maxHeadBytes
	if _, err := k.Write(q.head); err != nil {
		return nil, true, err
	}
	if _, err := k.r.Peek(1); err != nil {
		return nil, true, err
	}
	asked := http.Request{Method: q.method}
	for range maxInterim {
		resp, err := http.ReadResponse(k.r, &asked)
		if err != nil {
			if k.head.N <= 0 {
				err = errLongAnswer
			}
			return nil, false, err
		}
		if resp.StatusCode/100 == 1 && resp.StatusCode != http.StatusSwitchingProtocols {
			if err := q.interim(resp.StatusCode, resp.Header); err != nil {
				return nil, false, err
			}
			continue
		}
		k.head.N = 1<<63 - 1
		return resp, false, nil
	}
	return nil, false, errNoAnswer
}

// keep has the connection be kept when the answer on it has been read.
func (p *pool) keep(a *asking, k *kept, resp *http.Response) {
	b := &keptBody{ReadCloser: resp.Body, pool: p, asking: a, kept: k}
	b.more = !resp.Close && resp.StatusCode != http.StatusSwitchingProtocols
	if resp.Body == http.NoBody {
		b.end(true)
		return
	}
	resp.Body = b
}

// A keptBody is the body of an answer on a connection of a pool.
type keptBody struct {
	io.ReadCloser
	pool   *pool
	asking *asking
	kept   *kept
	more   bool // another request may follow
	over   bool
}

func (b *keptBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.end(err == io.EOF)
	}
	return n, err
}

// Close ends the connection, unless all of the body has been read.
func (b *keptBody) Close() error {
	b.end(false)
	return nil
}

func (b *keptBody) end(whole bool) {
	if b.over {
		return
	}
	b.over = true
	if there := b.asking.waits(nil); there && whole && b.more && b.kept.r.Buffered() == 0 && !b.kept.answered.holds() {
		b.pool.put(b.kept)
		return
	}
	b.kept.Close()
}

// put keeps a connection.
func (p *pool) put(k *kept) {
	var out *kept
	p.mu.Lock()
	switch {
	case p.proxy.ctx.Err() != nil || len(p.of[k.to]) >= idleOrigins:
		out = k
	case p.idle.Len() >= p.most:
		out = p.idle.Front().Value.(*kept)
		p.unlink(out)
		fallthrough
	default:
		k.since = time.Now()
		k.place = p.idle.PushBack(k)
		p.of[k.to] = append(p.of[k.to], k)
		if p.idle.Len() == 1 {
			p.look = time.AfterFunc(lookAtIdle, p.lookAtAll)
		}
	}
	p.mu.Unlock()
	if out != nil {
		out.Close()
	}
}

// unlink takes one out that is idle. p.mu is held.
func (p *pool) unlink(k *kept) {
	p.idle.Remove(k.place)
	k.place = nil
	all := p.of[k.to]
	if all = slices.Delete(all, slices.Index(all, k), slices.Index(all, k)+1); len(all) > 0 {
		p.of[k.to] = all
	} else {
		delete(p.of, k.to)
	}
	if p.idle.Len() == 0 {
		p.look.Stop()
	}
}

// take gives one that is idle, the last that was used, or nil.
func (p *pool) take(to origination) *kept {
	for {
		p.mu.Lock()
		all := p.of[to]
		if len(all) == 0 {
			p.mu.Unlock()
			return nil
		}
		k := all[len(all)-1]
		p.unlink(k)
		p.mu.Unlock()
		if k.quiet() {
			k.again = true
			return k
		}
		k.Close()
	}
}

// quiet says whether an idle connection is one that can be used: it is open, and
// nothing was said on it that nobody asked for.
func (k *kept) quiet() bool {
	return quiet(k.Conn)
}

func quiet(c net.Conn) bool {
	secure, ok := c.(*tls.Conn)
	if !ok {
		return socket.Quiet(c)
	}
	if !quiet(secure.NetConn()) {
		return false
	}
	// What was read of TLS with what was asked for is seen in TLS only. With its
	// time over a read takes nothing from the socket, and does not wait.
	secure.SetDeadline(time.Unix(1, 0))
	n, err := secure.Read(make([]byte, 1))
	secure.SetDeadline(time.Time{})
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
}

// lookAtAll closes the connections that have been idle for long, and those of no
// more use.
func (p *pool) lookAtAll() {
	p.closeIdle(func(k *kept) bool { return time.Since(k.since) > idleOriginTime || !k.quiet() })
}

// closeIdle closes the idle connections of which which is true.
func (p *pool) closeIdle(which func(*kept) bool) {
	p.mu.Lock()
	var out []*kept
	for at := p.idle.Front(); at != nil; at = at.Next() {
		if k := at.Value.(*kept); which(k) {
			out = append(out, k)
		}
	}
	for _, k := range out {
		p.unlink(k)
	}
	if p.idle.Len() > 0 {
		p.look.Reset(lookAtIdle)
	}
	p.mu.Unlock()
	for _, k := range out {
		k.Close()
	}
}

// ask asks for a request of net/http's.
func (p *pool) ask(ctx context.Context, r *http.Request, early *Interim) (answered, error) {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return answered{}, errDropped
	}
	var head bytes.Buffer
	if err := r.Write(&head); err != nil {
		return answered{}, err
	}
	a := new(asking)
	unwatch := context.AfterFunc(ctx, a.leave)
	got, err := p.question(a, &question{c, origination{r.URL.Host, r.URL.Scheme == "https"}, r.Method, head.Bytes(), func(status int, h http.Header) error {
		return early.got(status, textproto.MIMEHeader(h))
	}})
	if err != nil {
		unwatch()
	}
	return got, err
}
