package seccomp

import (
	"encoding/binary"
	"slices"
	"testing"

	"golang.org/x/net/bpf"
)

// A machine runs a filter as the kernel would: struct seccomp_data in, an
// answer out. The virtual machine of x/net/bpf reads big endian, as packets
// are, and the kernel reads seccomp_data as it lies in memory; so each word is
// laid out the other way round, at its own offset.
type machine struct {
	vm    *bpf.VM
	audit uint32
}

const killed = 0xffff

func newMachine(t testing.TB, o Options) machine {
	t.Helper()
	a, err := o.arch()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := Program(o)
	if err != nil {
		t.Fatal(err)
	}
	// What is run is what Program gave, read back.
	var program []bpf.Instruction
	for i := range slices.Chunk(raw, 8) {
		program = append(program, bpf.RawInstruction{
			Op: binary.LittleEndian.Uint16(i), Jt: i[2], Jf: i[3], K: binary.LittleEndian.Uint32(i[4:]),
		}.Disassemble())
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	return machine{vm, a.audit}
}

func (m machine) on(audit, nr uint32, args ...uint64) answer {
	var data [64]byte
	binary.BigEndian.PutUint32(data[offNumber:], nr)
	binary.BigEndian.PutUint32(data[offArch:], audit)
	for i, arg := range args {
		binary.BigEndian.PutUint32(data[offArgs+8*i:], uint32(arg))
		binary.BigEndian.PutUint32(data[offArgs+8*i+4:], uint32(arg>>32))
	}
	n, err := m.vm.Run(data[:])
	if err != nil {
		panic(err)
	}
	switch got := uint32(n); got &^ 0xffff {
	case retAllow &^ 0xffff:
		return allow
	case retErrno:
		return answer(got & 0xffff)
	case retKillProcess:
		return killed
	default:
		panic(got)
	}
}

func (m machine) ask(nr uint32, args ...uint64) answer { return m.on(m.audit, nr, args...) }

func number(t testing.TB, arch, name string) (uint32, bool) {
	t.Helper()
	a, err := Options{Arch: arch}.arch()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range a.calls {
		if c.name == name {
			return c.nr, true
		}
	}
	return 0, false
}

// every is all options there are.
func every() []Options {
	var all []Options
	for _, arch := range []string{"amd64", "arm64"} {
		for _, trace := range []bool{false, true} {
			for _, noMemfd := range []bool{false, true} {
				for _, group := range []bool{false, true} {
					all = append(all, Options{Arch: arch, Trace: trace, NoMemfd: noMemfd, NoGroupSignal: group})
				}
			}
		}
	}
	return all
}

// judge says what the rules mean without compiling them.
func judge(a arch, list []rule, nr uint32, args [6]uint64) answer {
	i := slices.IndexFunc(a.calls, func(c call) bool { return c.nr == nr })
	if i < 0 {
		return enosys
	}
	for _, r := range list {
		if !slices.Contains(r.calls, a.calls[i].name) {
			continue
		}
		for _, c := range r.clauses {
			if !slices.ContainsFunc(c.when, func(t test) bool { return !t.holdsFor(args) }) {
				return c.answer
			}
		}
	}
	return allow
}

func (t test) holdsFor(args [6]uint64) bool {
	v := uint32(args[t.arg])
	if t.mask != 0 {
		v &= t.mask
	}
	switch t.kind {
	case anyBit:
		return v&t.vals[0] != 0
	case noneOf:
		return !slices.Contains(t.vals, v)
	}
	return slices.Contains(t.vals, v)
}

// FuzzCompile: what is compiled answers as the rules do, whatever is asked.
func FuzzCompile(f *testing.F) {
	f.Add(uint8(0), uint32(41), uint64(2), uint64(3), uint64(0))
	f.Add(uint8(2), uint32(16), uint64(0), uint64(0x100005412), uint64(0))
	f.Add(uint8(5), uint32(220), uint64(0x10000000), uint64(0), uint64(0))
	f.Add(uint8(1), uint32(0x40000027), uint64(0), uint64(0), uint64(0))
	options := every()
	machines := make([]machine, len(options))
	for i, o := range options {
		machines[i] = newMachine(f, o)
	}
	f.Fuzz(func(t *testing.T, which uint8, nr uint32, a0, a1, a2 uint64) {
		i := int(which) % len(options)
		a, _ := options[i].arch()
		want := judge(a, rules(options[i]), nr, [6]uint64{a0, a1, a2})
		if got := machines[i].ask(nr, a0, a1, a2); got != want {
			t.Errorf("%+v: call %d (%#x, %#x, %#x): %d, and the rules say %d", options[i], nr, a0, a1, a2, got, want)
		}
	})
}
