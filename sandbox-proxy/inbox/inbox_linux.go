package inbox

import (
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// atOnce is how many packets are read, at most, before they are answered.
	atOnce = 32
	// roomFor is the room for them beside one that is as long as can be.
	roomFor = 4 << 10
)

// many is an inbox that reads what is there, and answers all of it, in one turn.
// Neither call waits, so Go's scheduler is not told of them.
type many struct {
	raw     syscall.RawConn
	room    []byte
	most    int // of a packet
	packets [atOnce]letter
	n       int
	answers [atOnce][]byte
}

// A letter is a packet and who sent it, as the kernel gives and takes him.
type letter struct {
	message []byte
	from    [unix.SizeofSockaddrInet6]byte
	size    uint32 // of from
}

// Of gives an inbox of a socket, for packets of up to most bytes.
func Of(p net.PacketConn, most int) Inbox {
	if udp, ok := p.(*net.UDPConn); ok {
		if raw, err := udp.SyscallConn(); err == nil {
			return &many{raw: raw, room: make([]byte, most+1+roomFor), most: most}
		}
	}
	return newSingle(p, most)
}

func (m *many) Read() error {
	var failed error
	err := m.raw.Read(func(fd uintptr) bool {
		m.n = 0
		for rest := m.room; m.n < atOnce && len(rest) > m.most; {
			l := &m.packets[m.n]
			n, no := receiveNow(fd, rest[:m.most+1], l)
			switch no {
			case 0:
				l.message, rest = rest[:n:n], rest[n:]
				m.n++
			case unix.EINTR:
			case unix.EAGAIN:
				return m.n > 0
			default:
				if m.n == 0 {
					failed = no
				}
				return true
			}
		}
		return true
	})
	if err != nil {
		return err
	}
	return failed
}

func (m *many) Answer(respond func([]byte) []byte) {
	for i := range m.n {
		m.answers[i] = respond(m.packets[i].message)
	}
	i := 0
	_ = m.raw.Write(func(fd uintptr) bool {
		for i < m.n {
			if b := m.answers[i]; b != nil {
				switch sendNow(fd, b, &m.packets[i]) {
				case unix.EINTR:
					continue
				case unix.EAGAIN:
					return false
				}
			}
			m.answers[i] = nil
			i++
		}
		return true
	})
}

// receiveNow reads a packet that is there, or gives EAGAIN (recvfrom(2)).
func receiveNow(fd uintptr, b []byte, l *letter) (int, syscall.Errno) {
	l.size = uint32(len(l.from))
	n, _, no := syscall.RawSyscall6(unix.SYS_RECVFROM, fd,
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_DONTWAIT,
		uintptr(unsafe.Pointer(&l.from)), uintptr(unsafe.Pointer(&l.size)))
	return int(n), no
}

// sendNow answers a packet if there is room, or gives EAGAIN (sendto(2)).
func sendNow(fd uintptr, b []byte, l *letter) syscall.Errno {
	_, _, no := syscall.RawSyscall6(unix.SYS_SENDTO, fd,
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL,
		uintptr(unsafe.Pointer(&l.from)), uintptr(l.size))
	return no
}
