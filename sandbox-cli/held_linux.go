package cli

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// heldListener takes the listener that a caller holds, at the descriptor that
// the variable names. It is served as it is, so it has to be exactly what a
// proxy would make: a listening TCP socket on 127.0.0.1 at the port.
func heldListener(said string, port uint16) (net.Listener, error) {
	fd, err := strconv.Atoi(said)
	if err != nil || strconv.Itoa(fd) != said || fd < 3 {
		return nil, errors.New("want the number of a descriptor, 3 or more")
	}
	want := fmt.Errorf("want a listening TCP socket on 127.0.0.1:%d", port)
	if port == 0 {
		return nil, errors.New("a listener is held, and its port is not what listen names")
	}
	for option, may := range map[int][]int{
		unix.SO_DOMAIN: {unix.AF_INET}, unix.SO_TYPE: {unix.SOCK_STREAM}, unix.SO_ACCEPTCONN: {1},
		// Go's listeners are multipath TCP where the kernel has it (Go 1.24).
		unix.SO_PROTOCOL: {unix.IPPROTO_TCP, unix.IPPROTO_MPTCP},
	} {
		if is, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, option); err != nil || !slices.Contains(may, is) {
			return nil, want
		}
	}
	at, err := unix.Getsockname(fd)
	if in4, is := at.(*unix.SockaddrInet4); err != nil || !is || in4.Addr != [4]byte{127, 0, 0, 1} || in4.Port != int(port) {
		return nil, want
	}
	f := os.NewFile(uintptr(fd), "listener")
	defer f.Close() // net takes a copy, which no child gets
	return net.FileListener(f)
}
