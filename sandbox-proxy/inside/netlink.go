package inside

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
)

// netlink(7) as far as it is spoken here: the words of linux/netlink.h, so that
// messages can be made and read on any system.
const (
	nlmsgError = 2
	nlmsgDone  = 3

	nlmRequest         = 0x1
	nlmAck             = 0x4
	nlmDumpInterrupted = 0x10
	nlmDump            = 0x300
	nlmExcl            = 0x200
	nlmCreate          = 0x400
	nlmAppend          = 0x800

	nlHeader = 16
	nested   = 0x8000 // NLA_F_NESTED
	kindBits = 0x3fff // NLA_TYPE_MASK

	// maxReplies bounds the messages of one answer: there are at most MaxTo
	// rules and some twenty more.
	maxReplies = 2 * MaxTo
)

var errNetlink = errors.New("netlink answered what was not asked")

// request is one thing that is asked of the kernel.
type request struct {
	what string
	ipv6 bool
	kind uint16
	flag uint16
	body []byte
}

// marshal puts requests into one packet, numbered from 1, with an answer asked
// for to the last: the kernel takes them in their order, answers those that
// failed unasked, and the last when it is done with all of them.
func marshal(all []request) []byte {
	var b []byte
	for i, r := range all {
		flags := nlmRequest | r.flag
		if i == len(all)-1 {
			flags |= nlmAck
		}
		b = append(b, envelope(r.kind, flags, uint32(i+1), r.body)...)
	}
	return b
}

// envelope is one message, padded to four bytes.
func envelope(kind, flags uint16, seq uint32, body []byte) []byte {
	b := make([]byte, nlHeader, nlHeader+len(body)+3)
	binary.NativeEndian.PutUint32(b, uint32(nlHeader+len(body)))
	binary.NativeEndian.PutUint16(b[4:], kind)
	binary.NativeEndian.PutUint16(b[6:], flags)
	binary.NativeEndian.PutUint32(b[8:], seq)
	return pad(append(b, body...))
}

func pad(b []byte) []byte { return append(b, make([]byte, -len(b)&3)...) }

// attribute is a struct nlattr and its value, padded to four bytes.
func attribute(kind uint16, value ...byte) []byte {
	b := make([]byte, 4, 4+len(value)+3)
	binary.NativeEndian.PutUint16(b, uint16(4+len(value)))
	binary.NativeEndian.PutUint16(b[2:], kind)
	return pad(append(b, value...))
}

func concat(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// attr is one attribute that was read.
type attr struct {
	kind  uint16
	value []byte
}

// readAttributes takes a row of attributes apart.
func readAttributes(b []byte) ([]attr, error) {
	var all []attr
	for len(b) > 0 {
		if len(b) < 4 {
			return nil, fmt.Errorf("%w: %d bytes behind an attribute", errNetlink, len(b))
		}
		n := int(binary.NativeEndian.Uint16(b))
		if n < 4 || n > len(b) {
			return nil, fmt.Errorf("%w: an attribute of %d bytes in %d", errNetlink, n, len(b))
		}
		all = append(all, attr{binary.NativeEndian.Uint16(b[2:]) & kindBits, b[4:n]})
		b = b[min((n+3)&^3, len(b)):]
	}
	return all, nil
}

// reply is one message of the kernel's.
type reply struct {
	kind  uint16
	flags uint16
	seq   uint32
	body  []byte
}

// readReplies takes a packet apart.
func readReplies(b []byte) ([]reply, error) {
	var all []reply
	for len(b) > 0 {
		if len(b) < nlHeader {
			return nil, fmt.Errorf("%w: %d bytes left over", errNetlink, len(b))
		}
		n := int(binary.NativeEndian.Uint32(b))
		if n < nlHeader || n > len(b) {
			return nil, fmt.Errorf("%w: a message of %d bytes in %d", errNetlink, n, len(b))
		}
		all = append(all, reply{
			kind: binary.NativeEndian.Uint16(b[4:]), flags: binary.NativeEndian.Uint16(b[6:]),
			seq: binary.NativeEndian.Uint32(b[8:]), body: b[nlHeader:n],
		})
		b = b[min((n+3)&^3, len(b)):]
	}
	return all, nil
}

// errno is what an answer of kind nlmsgError says; zero is success.
func (r reply) errno() (syscall.Errno, error) {
	if r.kind != nlmsgError || len(r.body) < 4 {
		return 0, fmt.Errorf("%w: kind %d", errNetlink, r.kind)
	}
	return syscall.Errno(-int32(binary.NativeEndian.Uint32(r.body))), nil
}

// answers collects what the kernel said to each request of one packet.
type answers struct {
	of   []request
	said map[int]syscall.Errno // by place
	// all is what it said to the packet as a whole, as nfnetlink does when a
	// batch cannot be committed: with the number of its first message, 0.
	all  syscall.Errno
	done bool
}

func (a *answers) read(packet []byte) error {
	replies, err := readReplies(packet)
	if err != nil {
		return err
	}
	for _, r := range replies {
		no, err := r.errno()
		if err != nil {
			return err
		}
		place := int(r.seq) - 1
		switch _, twice := a.said[place]; {
		case r.seq == 0 && no != 0:
			a.all, a.done = no, true
		case place < 0 || place >= len(a.of) || twice:
			return fmt.Errorf("%w: to request %d", errNetlink, r.seq)
		default:
			if a.said == nil {
				a.said = map[int]syscall.Errno{}
			}
			a.said[place] = no
			a.done = a.done || place == len(a.of)-1
		}
	}
	return nil
}

// dump collects the messages that answer a request to list things.
type dump struct {
	kind uint16 // of each message
	head int    // the bytes before its attributes
	got  []reply
	done bool
}

func (d *dump) read(packet []byte) error {
	replies, err := readReplies(packet)
	if err != nil {
		return err
	}
	for _, r := range replies {
		switch {
		case r.flags&nlmDumpInterrupted != 0:
			return fmt.Errorf("%w: it changed while it was listed", errNetlink)
		case r.kind == nlmsgDone:
			d.done = true
		case r.kind == nlmsgError:
			no, err := r.errno()
			if err == nil {
				err = no
			}
			return err
		case r.kind != d.kind || len(r.body) < d.head || len(d.got) == maxReplies:
			return fmt.Errorf("%w: kind %d, %d bytes, after %d", errNetlink, r.kind, len(r.body), len(d.got))
		default:
			r.body = append([]byte(nil), r.body...)
			d.got = append(d.got, r)
		}
	}
	return nil
}
