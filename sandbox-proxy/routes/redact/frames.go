package redact

import (
	"encoding/binary"
	"errors"
	"io"
)

var (
	errFrame = errors.New("a frame that is masked or compressed")
	errTurn  = errors.New("a frame that begins a message within another")
)

// The bits of a frame's first byte.
const (
	frameEnds    = 0x80 // a message's last
	frameControl = 0x08
	frameKind    = 0x0f
)

// Frames copies a server's frames (RFC 6455 section 5.2), in whose messages the
// value is replaced; the redactor is a [Redactor.Fitted]. A message that comes
// in several frames goes on in other ones (section 5.4), since the value may
// stand where one ends. A frame that cannot be read ends it: one that is masked,
// which a server's never is, or compressed, which was not agreed on.
func Frames(w io.Writer, r io.Reader, redactor *Redactor) error {
	buf := make([]byte, 32<<10)
	var parted *message // that has not come to its end
	for {
		first, left, head, err := readHead(r, buf)
		if err != nil {
			return err
		}
		one := &message{w: w, stream: redactor.Stream()}
		switch {
		case first&frameControl != 0, parted == nil && first&frameEnds != 0:
			if _, err := w.Write(buf[:head]); err != nil {
				return err
			}
		case parted == nil:
			one.parted, one.kind = true, first&frameKind
			parted = one
		case first&frameKind != 0:
			return errTurn
		default:
			one = parted
		}
		one.last = first&frameEnds != 0
		if one == parted && one.last {
			parted = nil
		}
		if err := one.copy(r, left, buf); err != nil {
			return err
		}
	}
}

// readHead reads a frame's head into buf: its first byte, how long its payload
// is, and how long it is itself.
func readHead(r io.Reader, buf []byte) (first byte, left uint64, head int, err error) {
	if _, err := io.ReadFull(r, buf[:2]); err != nil {
		return 0, 0, 0, err
	}
	if buf[0]&0x70 != 0 || buf[1]&0x80 != 0 {
		return 0, 0, 0, errFrame
	}
	head, left = 2, uint64(buf[1])
	switch left {
	case 126:
		head = 4
	case 127:
		head = 10
	}
	if _, err := io.ReadFull(r, buf[2:head]); err != nil {
		return 0, 0, 0, err
	}
	switch head {
	case 4:
		left = uint64(binary.BigEndian.Uint16(buf[2:]))
	case 10:
		left = binary.BigEndian.Uint64(buf[2:])
	}
	return buf[0], left, head, nil
}

// A message is one on its way: in its own frame, or parted, in frames that are
// made here.
type message struct {
	w      io.Writer
	stream *Stream
	parted bool
	kind   byte // of its next frame: its own, then that of what continues one
	last   bool // no other frame follows
	head   []byte
}

// copy passes on a frame's payload.
func (m *message) copy(r io.Reader, left uint64, buf []byte) error {
	for more := left > 0 || m.parted; more; more = left > 0 {
		n, err := 0, error(nil)
		if left > 0 {
			n, err = r.Read(buf[:min(left, uint64(len(buf)))])
			left -= uint64(n)
		}
		if werr := m.pass(m.stream.Next(buf[:n], left == 0 && (m.last || !m.parted)), left == 0); werr != nil {
			return werr
		}
		if err != nil && left > 0 {
			return err
		}
	}
	return nil
}

// pass passes on a piece; over says that the frame it came in is.
func (m *message) pass(piece []byte, over bool) error {
	ends := over && m.last
	if m.parted && (len(piece) > 0 || ends) {
		m.head = append(m.head[:0], m.kind)
		if m.kind = 0; ends {
			m.head[0] |= frameEnds
		}
		switch n := len(piece); {
		case n < 126:
			m.head = append(m.head, byte(n))
		case n < 1<<16:
			m.head = binary.BigEndian.AppendUint16(append(m.head, 126), uint16(n))
		default:
			m.head = binary.BigEndian.AppendUint64(append(m.head, 127), uint64(n))
		}
		if _, err := m.w.Write(m.head); err != nil {
			return err
		}
	}
	_, err := m.w.Write(piece)
	return err
}
