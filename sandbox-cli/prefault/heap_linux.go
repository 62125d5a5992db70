package prefault

import (
	"syscall"
	"unsafe"
)

const (
	// heapPiece is what Go's heap grows by, aligned to as much (mheap.grow in
	// runtime/mheap.go: pallocChunkPages).
	heapPiece = 4 << 20

	// heapWanted is what a start of ours touches of it.
	heapWanted = 2 << 20

	populateWrite = 23 // MADV_POPULATE_WRITE, not in package syscall
)

// ahead is where the heap stands when this package is initialised.
var ahead = make([]byte, 8<<10)

// init populates the heap that the start will use. It runs before most other
// packages' own, since it needs next to none of them. The heap begins at a
// random place of its first piece; where too little of that is left, the rest
// is taken, so that the runtime goes on in the next piece and has it mapped.
func init() {
	at := address(ahead)
	if left := -at % heapPiece; left > 0 && left < heapWanted {
		populate(at, left)
		ahead = make([]byte, left)
		at = address(ahead) + left
	}
	ahead = nil
	populate(at, heapWanted)
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// populate asks for the pages of size bytes from at on. What is not mapped ends
// it early: that is no error here, only a slower start.
func populate(at, size uintptr) {
	page := uintptr(syscall.Getpagesize())
	from := at &^ (page - 1)
	syscall.RawSyscall(syscall.SYS_MADVISE, from, at+size-from, populateWrite)
}
