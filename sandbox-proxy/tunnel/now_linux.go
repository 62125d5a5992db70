package tunnel

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls below never wait, and so are made without a word to Go's scheduler.
// Told of a call that takes 20 µs, its watcher takes the thread's work away and
// wakes another for it; many here take that, since on loopback the other side's
// share is done in them. A request in a tunnel costs a tenth less processor time
// so, and bulk a sixth.

// readNow reads what is there of a socket, or gives EAGAIN (recv(2)).
func readNow(fd uintptr, b []byte) (int, error) {
	return moved(syscall.RawSyscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_DONTWAIT, 0, 0))
}

// writeNow writes to a socket what there is room for, or gives EAGAIN (send(2)).
func writeNow(fd uintptr, b []byte) (int, error) {
	return moved(syscall.RawSyscall6(unix.SYS_SENDTO, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0))
}

// spliceNow moves up to n bytes between a socket and a pipe, neither of which
// waits (splice(2)): Go's sockets do not, and the pipe is made so.
func spliceNow(from, to uintptr, n int) (int, error) {
	return moved(syscall.RawSyscall6(unix.SYS_SPLICE, from, 0, to, 0, uintptr(n), unix.SPLICE_F_MOVE|unix.SPLICE_F_NONBLOCK))
}

func moved(n, _ uintptr, no syscall.Errno) (int, error) {
	if no != 0 {
		return 0, no
	}
	return int(n), nil
}
