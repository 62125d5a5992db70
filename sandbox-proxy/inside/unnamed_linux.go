package inside

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// nfnetlink_log, in the words of linux/netfilter/nfnetlink_log.h.
const (
	ulog          = unix.NFNL_SUBSYS_ULOG << 8
	ulogPacket    = ulog     // NFULNL_MSG_PACKET, which is 0
	ulogConfig    = ulog | 1 // NFULNL_MSG_CONFIG
	ulogCommand   = 1        // NFULA_CFG_CMD
	ulogBind      = 1        // NFULNL_CFG_CMD_BIND
	ulogPayload   = 9        // NFULA_PAYLOAD
	maxUlog       = 8 << 10  // one packet's first bytes, and what is said of it
	maxLastUnread = 256      // more than a socket's buffer holds

	// So many calls are read in so much time: a program that floods the rule
	// pays for each of its calls, and would have the reader pay as much.
	maxPaced = 512
	pace     = 500 * time.Millisecond
)

// Unnamed has the calls that no rule carries, which the kernel refuses without
// anybody: [Unnamed.Next] says where each was meant to go. Some are left out
// where there are more at a time than are read.
type Unnamed struct {
	f     *os.File
	last  int           // read since the end, after which there is no waiting
	ended chan struct{} // closed then
	end   sync.Once

	paced int // read since
	since time.Time
}

// bindUnnamed makes the socket of a network that is told of them, or none where
// the kernel cannot: then they are refused all the same.
func bindUnnamed(in source) (k kernel, ok bool) {
	k, err := in.netlink(unix.NETLINK_NETFILTER)
	if err != nil {
		return kernel{}, false
	}
	bind := request{kind: ulogConfig, body: concat(generic(anyFamily, unnamedGroup), attribute(ulogCommand, ulogBind))}
	got := answers{of: []request{bind}}
	if err := k.exchange(marshal(got.of), got.read, &got.done); err != nil || got.said[0] != 0 || got.all != 0 {
		k.close()
		return kernel{}, false
	}
	return k, true
}

// installTold puts the rules in, of which one tells of what it refuses where
// the kernel can. The socket, which is -1 where it cannot, is what was told to.
func installTold(in source, to []Destination) (ruleSet, int, error) {
	// Without a word of it no port is refused by the kernel: the proxy tells of
	// what it refuses itself.
	untold := func() ruleSet { return theRules(anyPort(to)...).withoutTold() }
	k, ok := bindUnnamed(in)
	if !ok {
		want := untold()
		return want, -1, install(in, want)
	}
	want := theRules(to...)
	err := install(in, want)
	if errors.Is(err, errNoNftables) {
		// It may be that one expression alone is missing.
		want = untold()
		return want, -1, install(spare{in, k}, want)
	}
	if err != nil {
		k.close()
		return want, -1, err
	}
	return want, k.fd, nil
}

// spare is a source whose socket of nftables is one that is there already.
type spare struct {
	source
	k kernel
}

func (s spare) netlink(int) (kernel, error) { return s.k, nil }

// takeUnnamed takes the socket for what it is said to be. It owns fd.
func (c *checker) takeUnnamed(fd int, as listener, got *Listeners) error {
	err := checkKind(fd, unix.AF_NETLINK, unix.SOCK_RAW, 0, unix.NETLINK_NETFILTER)
	if as != unnamedListener || got.Unnamed != nil {
		err = errMessage
	}
	if err == nil {
		err = c.checkNetwork(fd)
	}
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		unix.Close(fd)
		return err
	}
	unix.CloseOnExec(fd)
	got.Unnamed = &Unnamed{f: os.NewFile(uintptr(fd), roleUnnamed.String()), ended: make(chan struct{})}
	return nil
}

// Next waits for the next call. After [Unnamed.End] it gives those that are
// there, and then [io.EOF].
func (u *Unnamed) Next() (Meant, error) {
	raw, err := u.f.SyscallConn()
	if err != nil {
		return Meant{}, err
	}
	buf := make([]byte, maxUlog)
	for {
		var meant Meant
		var no error
		read := func(fd uintptr) bool {
			meant, no = readUnnamed(int(fd), buf)
			return no != unix.EAGAIN
		}
		err := raw.Read(read)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			if err = raw.Control(func(fd uintptr) { read(fd) }); err == nil && (no == unix.EAGAIN || u.last == maxLastUnread) {
				err = io.EOF
			}
			u.last++
		}
		switch {
		case err != nil:
			return Meant{}, err
		case no == nil && meant.To.IsValid():
			u.keepPace()
			return meant, nil
		case no != nil && no != unix.EINTR && no != unix.ENOBUFS:
			return Meant{}, no
		}
	}
}

// keepPace waits where calls come faster than they are to be read: what does not
// fit into the socket's buffer meanwhile is left out. After the end it does not.
func (u *Unnamed) keepPace() {
	if u.paced++; u.paced < maxPaced {
		return
	}
	u.paced = 0
	select {
	case <-time.After(pace - time.Since(u.since)):
	case <-u.ended:
	}
	u.since = time.Now()
}

// readUnnamed reads one message, which is zero where it tells of no call.
func readUnnamed(fd int, buf []byte) (meant Meant, no error) {
	n, from, err := unix.Recvfrom(fd, buf, 0)
	if err != nil {
		return meant, err
	}
	if at, ok := from.(*unix.SockaddrNetlink); !ok || at.Pid != 0 {
		return meant, nil // another process's, not the kernel's
	}
	replies, err := readReplies(buf[:n])
	if err != nil {
		return meant, nil
	}
	for _, r := range replies {
		if r.kind != ulogPacket || len(r.body) < nfGenHead {
			continue
		}
		if all, err := readAttributes(r.body[nfGenHead:]); err == nil {
			if to, ok := meantFor(byKind(all)[ulogPayload]); ok {
				meant = to
			}
		}
	}
	return meant, nil
}

// End says that no more is waited for.
func (u *Unnamed) End() {
	u.f.SetReadDeadline(time.Unix(1, 0))
	u.end.Do(func() { close(u.ended) })
}

// Close ends it at once.
func (u *Unnamed) Close() error {
	u.end.Do(func() { close(u.ended) })
	if err := u.f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
