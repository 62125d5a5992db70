//go:build !linux

package socket

import "golang.org/x/sys/unix"

// peek looks for what has come on a socket, and does not wait.
func peek(fd uintptr) error {
	_, _, err := unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
	return err
}
