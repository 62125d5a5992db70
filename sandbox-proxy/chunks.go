package proxy

import "errors"

// maxSizeDigits is as many as fit in 63 bits.
const maxSizeDigits = 15

var errChunk = errors.New("malformed chunked body")

// chunks finds the end of a chunked body, as RFC 9112 section 7.1 has it and
// no wider, so that what follows can be told from it. The zero value stands at
// a body's start.
type chunks struct {
	state chunkState
	size  uint64 // of the chunk: what was read of it, then what is left
	line  int    // bytes of the line so far
}

type chunkState uint8

const (
	chunkSize     chunkState = iota // in the digits
	chunkExt                        // in an extension, to be skipped
	chunkSizeLF                     // a LF must come
	chunkData                       // in the data
	chunkDataCR                     // a CR must come
	chunkDataLF                     // a LF must come
	trailerStart                    // at the start of a line of trailers
	trailerLine                     // in one
	trailerLineLF                   // a LF must come
	trailerEndLF                    // the last LF must come
	chunksDone
)

// next reads on. It gives how many bytes of b are the body's, and whether the
// body has ended there.
func (c *chunks) next(b []byte) (n int, done bool, err error) {
	for n < len(b) && c.state != chunksDone {
		if c.state == chunkData {
			k := min(uint64(len(b)-n), c.size)
			n, c.size = n+int(k), c.size-k
			if c.size == 0 {
				c.state = chunkDataCR
			}
			continue
		}
		if err := c.step(b[n]); err != nil {
			return n, false, err
		}
		n++
	}
	return n, c.state == chunksDone, nil
}

// step reads a byte that is not data.
func (c *chunks) step(b byte) error {
	c.line++
	if c.line > maxHeadBytes {
		return errChunk
	}
	switch c.state {
	case chunkSize:
		if digit, ok := hexDigit(b); ok {
			if c.line > maxSizeDigits {
				return errChunk
			}
			c.size = c.size<<4 | uint64(digit)
			return nil
		}
		if c.line == 1 {
			return errChunk // no digit
		}
		switch b {
		case '\r':
			return c.to(chunkSizeLF)
		case ';':
			return c.to(chunkExt)
		}
		return errChunk
	case chunkExt:
		switch {
		case b == '\r':
			return c.to(chunkSizeLF)
		case b < ' ' && b != '\t' || b == 0x7f:
			return errChunk
		}
		return nil
	case chunkDataCR:
		return c.want(b, '\r', chunkDataLF)
	case chunkDataLF:
		c.line = 0
		return c.want(b, '\n', chunkSize)
	case chunkSizeLF:
		c.line = 0
		if c.size == 0 {
			return c.want(b, '\n', trailerStart)
		}
		return c.want(b, '\n', chunkData)
	case trailerStart:
		if b == '\r' {
			return c.to(trailerEndLF)
		}
		c.state = trailerLine
		return c.step(b)
	case trailerLine:
		switch {
		case b == '\r':
			return c.to(trailerLineLF)
		case b < ' ' && b != '\t' || b == 0x7f:
			return errChunk
		}
		return nil
	case trailerLineLF:
		return c.want(b, '\n', trailerStart) // c.line goes on: all trailers together are bounded
	}
	return c.want(b, '\n', chunksDone)
}

func hexDigit(b byte) (byte, bool) {
	switch {
	case b >= '0' && b <= '9':
		return b - '0', true
	case b >= 'a' && b <= 'f':
		return b - 'a' + 10, true
	case b >= 'A' && b <= 'F':
		return b - 'A' + 10, true
	}
	return 0, false
}

func (c *chunks) to(s chunkState) error {
	c.state = s
	return nil
}

func (c *chunks) want(b, want byte, then chunkState) error {
	if b != want {
		return errChunk
	}
	return c.to(then)
}
