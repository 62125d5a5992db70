package hello

import (
	"encoding/binary"
	"errors"
)

// MaxBytes bounds a hello, its records' heads included. A hello with every
// post-quantum key share is under 4 KiB.
const MaxBytes = 16 << 10

var (
	// ErrShort says that the bytes so far start a hello, and more must come.
	ErrShort = errors.New("not whole yet")
	// ErrNotTLS says that the bytes start something else.
	ErrNotTLS = errors.New("not a TLS ClientHello")
	// ErrMalformed says that the bytes start a hello that can be read in two
	// ways or in none.
	ErrMalformed = errors.New("a malformed TLS ClientHello")
	// ErrOther says that a second hello names another server.
	ErrOther = errors.New("a second TLS ClientHello that names another server")
)

const (
	recordHead     = 5
	recordMost     = 1 << 14 // RFC 8446 section 5.1
	typeHandshake  = 22
	typeHello      = 1
	helloHead      = 4
	randomBytes    = 32
	sessionMost    = 32
	extensionName  = 0
	nameTypeHost   = 0
	versionMajor   = 3
	versionMinorUp = 4
)

// A Hello is what a ClientHello says, as far as it matters here.
type Hello struct {
	ServerName string // as it was sent, or "" where none was
	Early      bool   // data may follow it before the server's turn
	Size       int    // in bytes, the heads of its records included
}

// Parse reads a ClientHello that starts at b[0], in one record or several.
func Parse(b []byte) (Hello, error) {
	var body []byte
	for size := 0; ; {
		if len(b) > 0 && b[0] != typeHandshake || len(b) > 1 && b[1] != versionMajor || len(b) > 2 && b[2] > versionMinorUp {
			if body == nil {
				return Hello{}, ErrNotTLS
			}
			return Hello{}, ErrMalformed // the hello goes on in something else
		}
		if len(b) < recordHead {
			return Hello{}, ErrShort
		}
		n := int(binary.BigEndian.Uint16(b[3:]))
		if n == 0 || n > recordMost {
			return Hello{}, ErrMalformed
		}
		whole := len(b) >= recordHead+n
		part := b[recordHead:min(len(b), recordHead+n)]
		body = append(body, part...)
		if len(body) > 0 && body[0] != typeHello {
			return Hello{}, ErrNotTLS
		}
		if len(body) >= helloHead {
			length := int(body[1])<<16 | int(body[2])<<8 | int(body[3])
			if length > MaxBytes {
				return Hello{}, ErrMalformed
			}
			if len(body) > helloHead+length || len(body) == helloHead+length && !whole {
				return Hello{}, ErrMalformed // what is behind it, or will be, is no part of it, and none may be there
			}
			if len(body) == helloHead+length {
				h, err := read(body[helloHead:])
				h.Size = size + recordHead + n
				return h, err
			}
		}
		if !whole {
			return Hello{}, ErrShort
		}
		b, size = b[recordHead+n:], size+recordHead+n
	}
}

// A cursor reads fields in order. Once one does not fit, all fail.
type cursor struct {
	b  []byte
	ok bool
}

func (c *cursor) take(n int) []byte {
	if !c.ok || n > len(c.b) {
		c.ok = false
		return nil
	}
	field := c.b[:n]
	c.b = c.b[n:]
	return field
}

// vector takes a field whose length stands in front of it, in size bytes.
func (c *cursor) vector(size int) []byte {
	n := 0
	for _, b := range c.take(size) {
		n = n<<8 | int(b)
	}
	return c.take(n)
}

func (c *cursor) uint16() int {
	b := c.take(2)
	if b == nil {
		return -1
	}
	return int(binary.BigEndian.Uint16(b))
}

// read reads the hello's body. Nothing may follow it before the server's turn
// but early data.
func read(body []byte) (h Hello, err error) {
	c := &cursor{body, true}
	c.take(2 + randomBytes) // legacy_version, random
	session := c.vector(1)
	suites := c.vector(2)
	compression := c.vector(1)
	if !c.ok || len(session) > sessionMost || len(suites) == 0 || len(suites)%2 != 0 || len(compression) == 0 {
		return Hello{}, ErrMalformed
	}
	if len(c.b) == 0 {
		return Hello{}, nil // no extensions: TLS 1.2 and before
	}
	all := &cursor{c.vector(2), true}
	if !c.ok || len(c.b) > 0 {
		return Hello{}, ErrMalformed
	}
	seen := map[int]bool{}
	for len(all.b) > 0 {
		kind := all.uint16()
		data := all.vector(2)
		if !all.ok || seen[kind] {
			return Hello{}, ErrMalformed
		}
		seen[kind] = true
		if kind != extensionName {
			continue
		}
		if h.ServerName, err = hostName(data); err != nil {
			return Hello{}, err
		}
	}
	h.Early = seen[extensionEarlyData]
	return h, nil
}

// hostName reads the extension: a list that holds one host_name.
func hostName(data []byte) (string, error) {
	c := &cursor{data, true}
	list := &cursor{c.vector(2), true}
	if !c.ok || len(c.b) > 0 {
		return "", ErrMalformed
	}
	kind := list.take(1)
	name := list.vector(2)
	if !list.ok || len(list.b) > 0 || kind[0] != nameTypeHost || len(name) == 0 {
		return "", ErrMalformed
	}
	return string(name), nil
}
