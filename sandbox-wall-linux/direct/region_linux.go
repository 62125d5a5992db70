package direct

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A region is memory that a process shares with those it forks: what it writes
// there afterwards, they read. It is at one address in all of them. Nothing in
// it points to memory that Go looks after.
type region struct {
	mem  []byte
	used int
}

// Sizes of regions: programSize is more than what a program's arguments and
// environment can be (execve(2): 6 MiB), once as text and once as addresses, and
// thousands of mounts; commandSize is for a few words. What is not used of them
// is not there.
const (
	programSize = 64 << 20
	commandSize = 1 << 20
)

func newRegion(size int) (*region, error) {
	mem, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("mmap: %w", err)
	}
	return &region{mem: mem}, nil
}

func (r *region) close() { _ = unix.Munmap(r.mem) }

// take gives part of it, for things that are aligned to eight bytes.
func (r *region) take(size int) (unsafe.Pointer, error) {
	r.used = (r.used + 7) &^ 7
	if size > len(r.mem)-r.used {
		return nil, fmt.Errorf("more than %d MiB of arguments, variables and mounts: %w", len(r.mem)>>20, unix.E2BIG)
	}
	at := unsafe.Pointer(&r.mem[r.used : r.used+1][0])
	r.used += size
	return at, nil
}

// taken gives part of a region as things of one kind.
func taken[T any](r *region, count int) ([]T, error) {
	if count == 0 {
		return nil, nil
	}
	var one T
	at, err := r.take(count * int(unsafe.Sizeof(one)))
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(at), count), nil
}
