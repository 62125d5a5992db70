package inside

import "golang.org/x/sys/unix"

// kernelWait bounds every wait for an answer of the kernel's, in seconds. It
// answers in microseconds or, with a fault of its own, never.
const kernelWait = 5

// maxNetlink bounds one packet of the kernel's, in bytes: it fills at most
// 32 KiB in a dump (netlink_dump in net/netlink/af_netlink.c).
const maxNetlink = 32 << 10

// kernel is a netlink socket. It is used as it is, blocking: a library that
// waits in the runtime's poller took three times as long for the rules, and
// left threads behind that have to give up their capabilities one by one.
type kernel struct{ fd int }

// netlinkOn takes a socket, which is its own from then on.
func netlinkOn(s int) (kernel, error) {
	wait := unix.Timeval{Sec: kernelWait}
	if err := unix.SetsockoptTimeval(s, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait); err != nil {
		unix.Close(s)
		return kernel{}, err
	}
	return kernel{fd: s}, nil
}

func (k kernel) close() { unix.Close(k.fd) }

// exchange sends one packet and gives what comes back to read until done.
func (k kernel) exchange(packet []byte, read func([]byte) error, done *bool) error {
	if err := unix.Sendto(k.fd, packet, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	buf := make([]byte, maxNetlink)
	for !*done {
		n, from, err := unix.Recvfrom(k.fd, buf, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		if at, ok := from.(*unix.SockaddrNetlink); !ok || at.Pid != 0 {
			continue // another process's, not the kernel's
		}
		if err := read(buf[:n]); err != nil {
			return err
		}
	}
	return nil
}

// list asks for all there is of a kind.
func (k kernel) list(packet []byte, d *dump) error { return k.exchange(packet, d.read, &d.done) }
