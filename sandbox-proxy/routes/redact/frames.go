package redact

import (
	"encoding/binary"
	"errors"
	"io"
)

// Frames copies a server's frames (RFC 6455 section 5.2), in each of which the
// value is replaced; the redactor is a [Redactor.Fitted]. A frame that cannot be
// read ends it: one that is masked, which a server's never is, or compressed,
// which was not agreed on.
func Frames(w io.Writer, r io.Reader, redactor *Redactor) error {
	buf := make([]byte, 32<<10)
	for {
		if _, err := io.ReadFull(r, buf[:2]); err != nil {
			return err
		}
		if buf[0]&0x70 != 0 || buf[1]&0x80 != 0 {
			return errors.New("a frame that is masked or compressed")
		}
		head, left := 2, uint64(buf[1])
		switch left {
		case 126:
			head = 4
		case 127:
			head = 10
		}
		if _, err := io.ReadFull(r, buf[2:head]); err != nil {
			return err
		}
		switch head {
		case 4:
			left = uint64(binary.BigEndian.Uint16(buf[2:]))
		case 10:
			left = binary.BigEndian.Uint64(buf[2:])
		}
		if _, err := w.Write(buf[:head]); err != nil {
			return err
		}
		stream := redactor.Stream()
		for left > 0 {
			n, err := r.Read(buf[:min(left, uint64(len(buf)))])
			left -= uint64(n)
			if _, werr := w.Write(stream.Next(buf[:n], left == 0)); werr != nil {
				return werr
			}
			if err != nil && left > 0 {
				return err
			}
		}
	}
}
