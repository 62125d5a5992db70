//go:build unix && !linux

package tunnel

import "syscall"

// readNow reads what is there of a socket that does not wait, or gives EAGAIN.
func readNow(fd uintptr, b []byte) (int, error) { return syscall.Read(int(fd), b) }

// writeNow writes to a socket that does not wait what there is room for, or gives
// EAGAIN.
func writeNow(fd uintptr, b []byte) (int, error) { return syscall.Write(int(fd), b) }
