package direct

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// handOut makes sockets in the network and sends each over the socket to. None
// is kept.
func (c *compiler) handOut(all []Handed, to int) {
	c.about("the sockets of its network")
	for _, h := range all {
		if h.Domain == 0 {
			c.do(none, unix.SYS_SENDMSG, n(to), c.packet(h.Message, none), n(unix.MSG_NOSIGNAL))
			continue
		}
		lacking, missing := unix.Errno(0), unix.Errno(0)
		if h.Domain == unix.AF_INET6 {
			lacking, missing = unix.EAFNOSUPPORT, unix.EBADF
		}
		c.doOK(lacking, tmp, unix.SYS_SOCKET, n(h.Domain), n(h.Type|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK), n(h.Protocol))
		c.doOK(missing, none, unix.SYS_SENDMSG, n(to), c.packet(h.Message, tmp), n(unix.MSG_NOSIGNAL))
		c.doOK(missing, none, unix.SYS_CLOSE, tmp.arg())
	}
	c.do(none, unix.SYS_CLOSE, n(to))
}

// packet gives a struct msghdr of a message and, where there is one, the
// descriptor that a register holds (cmsg(3), unix(7)).
func (c *compiler) packet(message []byte, fd reg) arg {
	vector := c.words(0, uint64(len(message)))
	c.fixes = append(c.fixes, fix{int(vector.v), int(c.place(message).v)})
	header := c.place(make([]byte, unsafe.Sizeof(unix.Msghdr{})))
	c.fixes = append(c.fixes, fix{int(header.v + unsafe.Offsetof(unix.Msghdr{}.Iov)), int(vector.v)})
	*(*uint64)(unsafe.Pointer(&c.mem[header.v+unsafe.Offsetof(unix.Msghdr{}.Iovlen)])) = 1
	if fd == none {
		return header
	}
	rights := c.place(unix.UnixRights(0))
	c.fixes = append(c.fixes, fix{int(header.v + unsafe.Offsetof(unix.Msghdr{}.Control)), int(rights.v)})
	*(*uint64)(unsafe.Pointer(&c.mem[header.v+unsafe.Offsetof(unix.Msghdr{}.Controllen)])) = uint64(unix.CmsgSpace(4))
	word := arg{address, rights.v + uintptr(unix.CmsgLen(0))}
	c.add(call{kind: setWord, args: [6]arg{word, fd.arg()}})
	return header
}
