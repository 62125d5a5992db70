package noexec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// Orders are what is to be done, in order.
type Orders struct {
	_ [0]func()

	// NoExec makes everything noexec.
	NoExec bool
	// Places are where what is above them does not hold: folders before what
	// lies in them.
	Places []Place
	// Store is a folder of this machine, on which an empty file system is
	// mounted for the sandbox's own ones; empty when there are none.
	Store string
	// Empty are those: Store/0, Store/1 and so on.
	Empty []Empty
	// Binds are what is shown at Store/b0, Store/b1 and so on, as it was looked
	// at, for a bubblewrap that cannot be given descriptors of it.
	Binds []Place
	// ReadOnly are devices of this machine that are read only from then on:
	// bubblewrap, which shows them, has no option for it.
	ReadOnly []string
}

// A Place is a file or folder, known by more than its path.
type Place struct {
	_ [0]func()

	// Path passes no link.
	Path     string
	Dev, Ino uint64
	// Code is whether it may be executed and mapped; else it may not, though
	// what is above it may.
	Code bool
}

// An Empty is an empty file system.
type Empty struct {
	_ [0]func()

	// Perm is the mode of its root.
	Perm uint32
	// Size is in bytes; 0 is the kernel's own limit, half of the memory.
	Size int64
}

// maxBytes bounds orders, written.
const maxBytes = 4 << 20

const version = "lnk-noexec-3"

// Encode writes orders for decode.
func (o Orders) Encode() []byte {
	var b bytes.Buffer
	word := func(s string) { b.WriteString(s); b.WriteByte(0) }
	number := func(n uint64) { b.Write(binary.AppendUvarint(nil, n)) }
	word(version)
	word(o.Store)
	number(map[bool]uint64{true: 1}[o.NoExec])
	number(uint64(len(o.Empty)))
	for _, e := range o.Empty {
		number(uint64(e.Perm))
		number(uint64(e.Size))
	}
	number(uint64(len(o.ReadOnly)))
	for _, path := range o.ReadOnly {
		word(path)
	}
	for _, places := range [][]Place{o.Places, o.Binds} {
		number(uint64(len(places)))
		for _, p := range places {
			word(p.Path)
			number(p.Dev)
			number(p.Ino)
			number(map[bool]uint64{true: 1}[p.Code])
		}
	}
	return b.Bytes()
}

var errMalformed = errors.New("noexec: malformed orders: this is a fault of lnk itself")

// decode reads what [Orders.Encode] wrote, all of it.
func decode(text []byte) (Orders, error) {
	r := reader{rest: text}
	if got := r.word(); got != version {
		return Orders{}, fmt.Errorf("%w: not %s", errMalformed, version)
	}
	o := Orders{Store: r.word(), NoExec: r.number() == 1}
	for range r.count() {
		o.Empty = append(o.Empty, Empty{Perm: uint32(r.number()), Size: int64(r.number())})
	}
	for range r.count() {
		path := r.word()
		r.bad = r.bad || !strings.HasPrefix(path, "/")
		o.ReadOnly = append(o.ReadOnly, path)
	}
	for _, places := range []*[]Place{&o.Places, &o.Binds} {
		for range r.count() {
			p := Place{Path: r.word(), Dev: r.number(), Ino: r.number(), Code: r.number() == 1}
			if !strings.HasPrefix(p.Path, "/") {
				r.bad = true
			}
			*places = append(*places, p)
		}
	}
	if r.bad || len(r.rest) > 0 || o.Store == "" && len(o.Empty)+len(o.Binds) > 0 {
		return Orders{}, errMalformed
	}
	return o, nil
}

type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) word() string {
	word, rest, ok := bytes.Cut(r.rest, []byte{0})
	r.rest, r.bad = rest, r.bad || !ok
	return string(word)
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.rest, r.bad = nil, true
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// count is a number of things that follow, no more than there are bytes.
func (r *reader) count() uint64 {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.bad = true
		return 0
	}
	return n
}
