package inbox

import "net"

// An Inbox is where one goroutine finds packets. Several inboxes may share a
// socket.
type Inbox interface {
	// Read waits for packets, and forgets those before. The error is the
	// socket's.
	Read() error
	// Answer has each packet that was read answered by what respond makes of
	// it; nil is no answer. A packet that was longer than the inbox takes has
	// one byte more than that. An answer that cannot be sent is no error: who
	// went away asks no more.
	Answer(respond func(packet []byte) []byte)
}

// single is an inbox of one packet at a time, of any socket.
type single struct {
	p    net.PacketConn
	buf  []byte
	n    int
	from net.Addr
}

func newSingle(p net.PacketConn, most int) *single { return &single{p: p, buf: make([]byte, most+1)} }

func (s *single) Read() (err error) {
	s.n, s.from, err = s.p.ReadFrom(s.buf)
	return err
}

func (s *single) Answer(respond func([]byte) []byte) {
	if b := respond(s.buf[:s.n]); b != nil {
		_, _ = s.p.WriteTo(b, s.from)
	}
}
