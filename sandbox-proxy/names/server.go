package names

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/inbox"
)

// Bounds of the server's.
const (
	// minTTL and maxTTL bound how long an answer may be kept.
	minTTL = 5 * time.Second
	maxTTL = 60 * time.Second
	// maxConns is how many TCP connections a listener has at once; one more is
	// closed at once, so that its client need not wait.
	maxConns = 64
	// maxQueries is how many queries one connection may ask.
	maxQueries = 1000
	// idleWait is how long a connection may be silent, and how long one
	// message may take (RFC 7766, section 6.2.3).
	idleWait = 10 * time.Second

	// maxQuery bounds a query, in bytes. A name is 255 at most.
	maxQuery = 4096
	// minUDP is the size that every client takes (RFC 1035, section 4.2.1).
	minUDP = 512
	// maxTCP is what the length in front of a message can say.
	maxTCP = 65535
	// readers is how many goroutines answer one UDP socket, which is how many
	// of its queries are under way.
	readers = 2
	// errorWait is the pause after an error of a socket's, and maxErrors how
	// many may follow each other. Those of a machine that has run out of
	// something do not count: they are waited for.
	errorWait = 20 * time.Millisecond
	maxErrors = 500
)

// Server answers DNS. Its members are set before it serves and not changed
// after; it may serve several sockets at once, which share its pool.
type Server struct {
	_ [0]func()

	// Allowed says whether a name may be reached. The name is in lower case,
	// without the dot at its end, and holds letters, digits, - and _ only. It
	// may be called by several goroutines at once and must not wait for
	// anything. Nil allows none.
	Allowed func(name string) bool
	// Records is asked in place of Allowed where a program asks for what it goes by
	// and no name has here: MX, TXT, SRV, NAPTR, URI, which kind is. Nil asks
	// Allowed.
	Records func(name, kind string) bool
	// Above says whether a name that may be reached is under this one. Nil is
	// that none is.
	Above func(name string) bool
	// Full is told of an allowed name that got no address, since the pool has
	// none left: its program is told to ask again. Nil tells nobody.
	Full func(name string)
	// Pool gives the addresses. It must be set.
	Pool *Pool
	// Hostname is the machine's name inside; it stands for loopback.
	Hostname string
	// IPv6 says whether the sandbox has IPv6. Without it no name has an
	// address of it.
	IPv6 bool
	// TTL is how long an answer may be kept: zero is a minute, and
	// what lies outside of five seconds and a minute is moved to them.
	TTL time.Duration
}

func (s *Server) codec() codec {
	ttl := s.TTL
	if ttl == 0 {
		ttl = maxTTL
	}
	return newMiekg(min(max(ttl, minTTL), maxTTL))
}

// respond gives the answer to a message, or nil for none.
func (s *Server) respond(c codec, message []byte, udp bool) []byte {
	var a answer
	if len(message) > maxQuery {
		message = message[:headerSize] // enough to say that it is malformed
	}
	q, v := c.parse(message)
	switch v {
	case silence:
		return nil
	case badOpcode:
		a = answer{code: codeNotThere, bare: true}
	case badFormat:
		a = answer{code: codeFormat, bare: true}
	case badVersion:
		a = answer{code: codeVersion}
	default:
		a = s.answer(q)
	}
	b, err := c.pack(q, a, limitOf(q, udp))
	if err != nil { // it has been read, so it can be written; else there is nothing to say
		return nil
	}
	return b
}

// limitOf is how long an answer may be, in bytes. A query without EDNS has a
// size of zero.
func limitOf(q query, udp bool) int {
	if !udp {
		return maxTCP
	}
	return min(max(int(q.edns.size), minUDP), ednsSize)
}

// ServeUDP answers the packets of p until p is closed, and then gives nil, or
// until p fails for another reason, and then closes it.
func (s *Server) ServeUDP(p net.PacketConn) error {
	c := s.codec()
	failed := make(chan error, readers)
	for range readers {
		go func() { failed <- s.answerPackets(c, p) }()
	}
	var errs []error
	for range readers {
		err := <-failed
		if err != nil {
			errs = append(errs, err)
			p.Close() // so that the others end too
		}
	}
	return errors.Join(errs...)
}

func (s *Server) answerPackets(c codec, p net.PacketConn) error {
	in := inbox.Of(p, maxQuery)
	var trouble trouble
	for {
		if err := in.Read(); err != nil {
			if end, err := trouble.ends(err); end {
				return err
			}
			continue
		}
		trouble = 0
		in.Answer(func(query []byte) []byte { return s.respond(c, query, true) })
	}
}

// trouble counts a socket's errors that follow each other.
type trouble int

// ends says whether to stop, and with which error; else it pauses.
func (t *trouble) ends(err error) (bool, error) {
	if errors.Is(err, net.ErrClosed) {
		return true, nil
	}
	if !exhausted(err) {
		*t++
	}
	if *t > maxErrors {
		return true, err
	}
	time.Sleep(errorWait)
	return false, nil
}

// exhausted says whether descriptors or memory have run out.
func exhausted(err error) bool {
	for _, no := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}

// ServeTCP answers what comes in by l until l is closed, and then gives nil, or
// until l fails for another reason. It returns when the connections have ended,
// which it ends itself then.
func (s *Server) ServeTCP(l net.Listener) error {
	var (
		c       = s.codec()
		done    sync.WaitGroup
		conns   = open{all: map[net.Conn]bool{}}
		trouble trouble
	)
	defer done.Wait()
	defer conns.closeAll()
	for {
		conn, err := l.Accept()
		if err != nil {
			if end, err := trouble.ends(err); end {
				return err
			}
			continue
		}
		trouble = 0
		if !conns.add(conn) {
			conn.Close()
			continue
		}
		done.Go(func() {
			defer conns.close(conn)
			s.answerStream(c, conn)
		})
	}
}

// answerStream answers the queries of one connection in their order.
func (s *Server) answerStream(c codec, conn net.Conn) {
	buf := make([]byte, 2+maxQuery)
	for range maxQueries {
		if conn.SetDeadline(time.Now().Add(idleWait)) != nil {
			return
		}
		if _, err := io.ReadFull(conn, buf[:2]); err != nil {
			return
		}
		n := int(binary.BigEndian.Uint16(buf))
		if n > maxQuery {
			return
		}
		if _, err := io.ReadFull(conn, buf[2:2+n]); err != nil {
			return
		}
		b := s.respond(c, buf[2:2+n], false)
		if b == nil {
			return
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...)); err != nil {
			return
		}
	}
}

// open holds the connections that are served.
type open struct {
	mu  sync.Mutex
	all map[net.Conn]bool
}

// add is false when there are too many.
func (o *open) add(c net.Conn) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.all) >= maxConns {
		return false
	}
	o.all[c] = true
	return true
}

func (o *open) close(c net.Conn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.all, c)
	c.Close()
}

func (o *open) closeAll() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for c := range o.all {
		c.Close()
	}
}
