package hello

import "encoding/binary"

// An Again looks for a second ClientHello behind the first, which a server of
// TLS 1.3 may ask for (HelloRetryRequest, RFC 8446 section 4.1.4). It has to
// name the same server, and some servers do not hold it to that: they go by
// what it names.
type Again struct {
	_ [0]func()

	// First is the hello that was parsed.
	First Hello
	// Check says whether a server may be named; "" is none.
	Check func(serverName string) bool

	seen   int // of what was said
	head   [recordHead]byte
	n      int    // of the record's head that has been read
	left   int    // of the record's body that is still to come
	body   []byte // the message so far
	length int    // of its whole, once it is known
	early  int    // bytes of early data that have come
}

const (
	typeApplicationData = 23
	extensionEarlyData  = 42
	// maxEarly bounds the early data that is looked past, in bytes: a server that
	// asks for another hello throws away what it is offered, which is 16 KiB
	// where nobody set it.
	maxEarly = 1 << 20
)

// Read takes what a program says, from the first byte of its first hello, in any
// pieces. It says whether there may be another hello further on; once there is
// none it is not to be called again. An error is one of a hello that may not be
// let through: what was given last holds its end, or a part without which it has
// none.
func (a *Again) Read(b []byte) (more bool, err error) {
	first := min(a.First.Size-a.seen, len(b))
	a.seen, b = a.seen+first, b[first:]
	for len(b) > 0 {
		if a.n < recordHead {
			n := copy(a.head[a.n:], b)
			a.n, b = a.n+n, b[n:]
			if a.n < recordHead {
				return true, nil
			}
			a.left = int(binary.BigEndian.Uint16(a.head[3:]))
			if more, err := a.record(); !more || err != nil {
				return false, err
			}
		}
		part := b[:min(a.left, len(b))]
		a.left, b = a.left-len(part), b[len(part):]
		if a.left == 0 {
			a.n = 0
		}
		if a.head[0] != typeHandshake {
			continue
		}
		if more, err := a.message(part); !more || err != nil {
			return false, err
		}
	}
	return true, nil
}

// record looks at a record's head.
func (a *Again) record() (more bool, err error) {
	switch {
	case a.head[0] == typeHandshake && a.length > helloHead+MaxBytes:
		// What is too long for a hello, and goes on, is not the last message of a
		// handshake of TLS 1.2, of which the start may look like one.
		return false, ErrMalformed
	case a.head[0] == typeApplicationData:
		a.early += recordHead + a.left
		return a.First.Early && a.early <= maxEarly && len(a.body) == 0, nil
	}
	return true, nil // what changes ciphers and some alerts may stand anywhere (RFC 8446 sections 5 and 6.1)
}

// message takes a part of the message behind the first hello.
func (a *Again) message(part []byte) (more bool, err error) {
	if len(part) == 0 {
		return true, nil
	}
	if a.length == 0 {
		n := min(helloHead-len(a.body), len(part))
		a.body, part = append(a.body, part[:n]...), part[n:]
		if a.body[0] != typeHello {
			return false, nil
		}
		if len(a.body) < helloHead {
			return true, nil
		}
		a.length = helloHead + int(a.body[1])<<16 + int(a.body[2])<<8 + int(a.body[3])
	}
	if a.length > helloHead+MaxBytes {
		return true, nil // what comes next says what it is
	}
	n := min(a.length-len(a.body), len(part))
	a.body, part = append(a.body, part[:n]...), part[n:]
	if len(a.body) < a.length {
		return true, nil
	}
	if len(part) > 0 || a.left > 0 {
		return false, ErrMalformed // as of the first
	}
	h, err := read(a.body[helloHead:])
	if err == nil && !a.Check(h.ServerName) {
		err = ErrOther
	}
	return false, err
}
