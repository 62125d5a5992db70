package direct

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A script is a list of system calls, and the memory that their arguments are
// in. It is written by [compile] and gone through by the first process.
type script struct {
	calls []call
	mem   []byte
	// fixes are the places in mem that hold an address in mem.
	fixes []fix
	whats []string
}

// A call is one system call, or one thing done between two.
type call struct {
	kind callKind
	nr   uintptr
	args [6]arg
	// out is the register that the result goes to.
	out reg
	// ok is an error that is none; 0 is no error at all.
	ok unix.Errno
	// what says what it is for, in script.whats.
	what int
}

type callKind uint8

const (
	// doCall makes the call.
	doCall callKind = iota
	// setWord writes args[1], 32 bits of it, to the memory at args[0].
	setWord
	// sameWord fails with ESTALE unless the 64 bits of memory at args[0],
	// and'ed with args[2], are args[1].
	sameWord
	// otherWord is the opposite.
	otherWord
	// wantCount makes the call and fails unless its result is args[5].
	wantCount
)

// An arg is a number, an address in the script's memory, or a register.
type arg struct {
	kind argKind
	v    uintptr
}

type argKind uint8

const (
	number argKind = iota
	address
	register
)

// A reg is a place for a result.
type reg int8

// The registers. Zero is none.
const (
	none     reg = iota
	oldRoot      // this machine's, as it is seen from here
	newRoot      // the sandbox's
	texts        // where texts of ours are made, when that is not its root
	procFS       // its /proc
	freeProc     // the same, where it stays writable
	closed       // the empty folder that closed ones are views of
	closedFile
	devNull
	oldUmask
	ruleSet
	firstTree // of those shown as others see them
	_         // maxTrees
	tmp
	tmp2
	tmp3
	registers
)

func n[T ~int | ~uint64 | ~uint32 | ~uintptr | ~int32 | ~int64](v T) arg {
	return arg{number, uintptr(v)}
}
func (r reg) arg() arg { return arg{register, uintptr(r)} }

type fix struct{ at, to int }

// here is AT_FDCWD.
var here = n(unix.AT_FDCWD)

// place keeps b in memory and gives its address.
func (s *script) place(b []byte) arg {
	for len(s.mem)%8 != 0 {
		s.mem = append(s.mem, 0)
	}
	at := len(s.mem)
	s.mem = append(s.mem, b...)
	return arg{address, uintptr(at)}
}

// text keeps a string, ended by a NUL.
func (s *script) text(t string) arg { return s.place(append([]byte(t), 0)) }

// words keeps 64-bit numbers.
func (s *script) words(v ...uint64) arg {
	var b []byte
	for _, w := range v {
		b = binary.NativeEndian.AppendUint64(b, w)
	}
	return s.place(b)
}

// pointers keeps an array of addresses, ended by a null pointer.
func (s *script) pointers(to []arg) arg {
	a := s.place(make([]byte, 8*(len(to)+1)))
	for i, p := range to {
		s.fixes = append(s.fixes, fix{int(a.v) + 8*i, int(p.v)})
	}
	return a
}

// about says what the calls from here on are for.
func (s *script) about(format string, a ...any) { s.whats = append(s.whats, fmt.Sprintf(format, a...)) }

func (s *script) add(c call) {
	c.what = len(s.whats) - 1
	s.calls = append(s.calls, c)
}

// do makes a call; its result goes to out.
func (s *script) do(out reg, nr uintptr, args ...arg) { s.doOK(0, out, nr, args...) }

// doOK does not mind one error.
func (s *script) doOK(ok unix.Errno, out reg, nr uintptr, args ...arg) {
	c := call{kind: doCall, nr: nr, out: out, ok: ok}
	copy(c.args[:], args)
	s.add(c)
}

// anyway makes a call that may fail.
func (s *script) anyway(nr uintptr, args ...arg) { s.doOK(anyError, none, nr, args...) }

// anyError is no error of the kernel's.
const anyError = unix.Errno(4096)

// want fails unless the result is count.
func (s *script) want(count int, nr uintptr, args ...arg) {
	c := call{kind: wantCount, nr: nr}
	copy(c.args[:], args)
	c.args[5] = n(count)
	s.add(c)
}

// close closes registers' descriptors.
func (s *script) close(regs ...reg) {
	for _, r := range regs {
		s.do(none, unix.SYS_CLOSE, r.arg())
	}
}

// write writes a text to a file below a folder that is open.
func (s *script) write(dir arg, name, text string, ok unix.Errno) {
	s.doOK(ok, tmp, unix.SYS_OPENAT, dir, s.text(name), n(unix.O_WRONLY|unix.O_CLOEXEC))
	s.doOK(ok, none, unix.SYS_WRITE, tmp.arg(), s.place([]byte(text)), n(len(text)))
	s.close(tmp)
}

// A linked script has its addresses, and is in a region.
type linked struct {
	calls []linkedCall
	base  uintptr
}

// A linkedCall is laid out for a process that must not allocate: numbers alone.
type linkedCall struct {
	nr   uintptr
	args [6]uintptr
	regs [6]uint8 // a register for an argument, or 0
	out  uint8
	kind callKind
	ok   uintptr
	what uintptr
}

// link gives a script the addresses of its memory, in a region. What its calls
// are about is counted from first on.
func (s *script) link(r *region, first int) (*linked, error) {
	mem, err := taken[byte](r, len(s.mem))
	if err != nil {
		return nil, err
	}
	l := &linked{base: uintptr(unsafe.Pointer(unsafe.SliceData(mem)))}
	if l.calls, err = taken[linkedCall](r, len(s.calls)); err != nil {
		return nil, err
	}
	copy(mem, s.mem)
	for _, f := range s.fixes {
		binary.NativeEndian.PutUint64(mem[f.at:], uint64(l.base)+uint64(f.to))
	}
	for i, c := range s.calls {
		k := linkedCall{nr: c.nr, out: uint8(c.out), kind: c.kind, ok: uintptr(c.ok), what: uintptr(first + c.what)}
		for j, a := range c.args {
			switch a.kind {
			case number:
				k.args[j] = a.v
			case address:
				k.args[j] = l.base + a.v
			case register:
				k.regs[j] = uint8(a.v)
			}
		}
		l.calls[i] = k
	}
	return l, nil
}

// address gives where an address of the script is.
func (l *linked) address(a arg) uintptr { return l.base + a.v }
