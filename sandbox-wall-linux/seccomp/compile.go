package seccomp

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/net/bpf"
)

// What a filter answers (<linux/seccomp.h>).
const (
	retKillProcess = 0x80000000
	retErrno       = 0x00050000
	retAllow       = 0x7fff0000
)

// Where struct seccomp_data holds what: the number of the call, the
// architecture, and the low half of each argument, both architectures being
// little endian.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

// maxInstructions is BPF_MAXINSNS of <linux/bpf_common.h>.
const maxInstructions = 4096

// Program gives the filter as an array of struct sock_filter in little endian,
// which is what bubblewrap's --seccomp reads. An architecture that there is no
// table for is an error that wraps [errors.ErrUnsupported].
func Program(o Options) ([]byte, error) {
	a, err := o.arch()
	if err != nil {
		return nil, err
	}
	return encode(assemble(a, rules(o)))
}

// A segment is a run of numbers, from from up to the next segment's, that are
// answered alike: by one answer, or by clauses.
type segment struct {
	from    uint32
	answer  answer
	clauses []clause
}

// segments cover all numbers. Every number that the architecture does not name
// is ENOSYS: the holes, x32's (bit 30), and those of kernels to come.
func segments(a arch, list []rule) []segment {
	byCall := map[string][]clause{}
	for _, r := range list {
		for _, name := range r.calls {
			byCall[name] = append(byCall[name], r.clauses...)
		}
	}
	var out []segment
	add := func(s segment) {
		if last := len(out) - 1; last >= 0 && s.clauses == nil && out[last].clauses == nil && out[last].answer == s.answer {
			return
		}
		out = append(out, s)
	}
	next := uint32(0)
	for _, c := range a.calls {
		if c.nr > next {
			add(segment{from: next, answer: enosys})
		}
		s := segment{from: c.nr}
		switch clauses := byCall[c.name]; {
		case len(clauses) == 1 && clauses[0].when == nil:
			s.answer = clauses[0].answer
		case clauses != nil:
			s.clauses = clauses
		}
		add(s)
		next = c.nr + 1
	}
	add(segment{from: next, answer: enosys})
	return out
}

func assemble(a arch, list []rule) []bpf.Instruction {
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: a.audit, SkipTrue: 1},
		bpf.RetConstant{Val: retKillProcess},
		bpf.LoadAbsolute{Off: offNumber, Size: 4},
	}
	return append(program, search(segments(a, list))...)
}

// search is a binary search for the number's segment. Kernels since 5.11 find
// out once which numbers are open whatever their arguments and never run it
// for those; older ones run it for every call.
func search(s []segment) []bpf.Instruction {
	if len(s) == 1 {
		if s[0].clauses != nil {
			return decide(s[0].clauses)
		}
		return []bpf.Instruction{ret(s[0].answer)}
	}
	half := len(s) / 2
	low, high := search(s[:half]), search(s[half:])
	pivot := bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: s[half].from}
	var program []bpf.Instruction
	if len(low) <= 255 {
		pivot.SkipTrue = uint8(len(low))
		program = []bpf.Instruction{pivot}
	} else { // a conditional jump goes no further than 255
		pivot.SkipFalse = 1
		program = []bpf.Instruction{pivot, bpf.Jump{Skip: uint32(len(low))}}
	}
	return append(append(program, low...), high...)
}

// decide tries the clauses in their order. Each is a block that falls out of
// its end when one of its tests does not hold.
func decide(clauses []clause) []bpf.Instruction {
	var program []bpf.Instruction
	for _, c := range clauses {
		block := []bpf.Instruction{ret(c.answer)}
		for i := len(c.when) - 1; i >= 0; i-- {
			block = append(holds(c.when[i], len(block)), block...)
		}
		program = append(program, block...)
	}
	return append(program, ret(allow))
}

// holds goes on behind its last instruction when t does, and else skips the
// rest instructions that follow. A block is far shorter than the 255 that a
// jump can skip; encode fails on one that is not.
func holds(t test, rest int) []bpf.Instruction {
	program := []bpf.Instruction{bpf.LoadAbsolute{Off: uint32(offArgs + 8*t.arg), Size: 4}}
	if t.mask != 0 {
		program = append(program, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: t.mask})
	}
	if t.kind == anyBit {
		return append(program, bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: t.vals[0], SkipFalse: uint8(rest)})
	}
	for i, v := range t.vals {
		left := len(t.vals) - 1 - i // instructions of this test that follow
		jump := bpf.JumpIf{Cond: bpf.JumpEqual, Val: v}
		switch {
		case t.kind == noneOf:
			jump.SkipTrue = uint8(left + rest)
		case left > 0:
			jump.SkipTrue = uint8(left)
		default:
			jump.SkipFalse = uint8(rest)
		}
		program = append(program, jump)
	}
	return program
}

func ret(a answer) bpf.Instruction {
	if a == allow {
		return bpf.RetConstant{Val: retAllow}
	}
	return bpf.RetConstant{Val: retErrno | uint32(a)}
}

// encode writes struct sock_filter {u16 code; u8 jt, jf; u32 k}.
func encode(program []bpf.Instruction) ([]byte, error) {
	if len(program) > maxInstructions {
		return nil, fmt.Errorf("seccomp: %d instructions, and the kernel takes %d: this is a bug", len(program), maxInstructions)
	}
	raw, err := bpf.Assemble(program)
	if err != nil {
		return nil, fmt.Errorf("seccomp: assemble: %w: this is a bug", err)
	}
	out := make([]byte, 0, 8*len(raw))
	for _, i := range raw {
		out = binary.LittleEndian.AppendUint16(out, i.Op)
		out = append(out, i.Jt, i.Jf)
		out = binary.LittleEndian.AppendUint32(out, i.K)
	}
	return out, nil
}
