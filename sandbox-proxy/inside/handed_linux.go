package inside

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// What goes over the control socket where a network's sockets are handed out of
// it, and not its listeners:
//
//	'm' index    up, with one descriptor: the socket of [Want.Handed] at that index
//	'f'          up: there are no more
//	'y'          up: all is made, and the program is about to start
//	'o'          up, instead of any of these: it cannot be made so
//	'g'          down: go on
const (
	kindMade      = 'm'
	kindFinished  = 'f'
	kindStarting  = 'y'
	kindOtherwise = 'o'
)

// ErrOtherwise says that this machine lets no network be made so, or that
// something changed while it was: make it by [Prepare].
var ErrOtherwise = errors.New("the network cannot be made from outside")

// A Socket is one that whoever makes a sandbox makes in its network, unbound,
// close-on-exec and not blocking, and sends over the control socket with its
// message. One of IPv6 may be missing.
type Socket struct {
	// Domain, Type and Protocol are socket(2)'s.
	Domain, Type, Protocol int
	// Message says which socket it is, for whoever is handed it.
	Message []byte
}

// Finished is the message that follows the last.
func Finished() []byte { return []byte{kindFinished} }

// Handed gives the sockets that are to be handed out, in their order.
func (w Want) Handed() []Socket {
	all := []Socket{
		{Domain: unix.AF_NETLINK, Type: unix.SOCK_RAW, Protocol: unix.NETLINK_ROUTE},
		{Domain: unix.AF_NETLINK, Type: unix.SOCK_RAW, Protocol: unix.NETLINK_NETFILTER}, // to be told of what they refuse
		{Domain: unix.AF_NETLINK, Type: unix.SOCK_RAW, Protocol: unix.NETLINK_NETFILTER}, // to write the rules
		{Domain: unix.AF_NETLINK, Type: unix.SOCK_RAW, Protocol: unix.NETLINK_NETFILTER}, // and to read them
	}
	for _, l := range listeners(w, true) {
		domain, kind := l.domainAndKind()
		all = append(all, Socket{Domain: domain, Type: kind, Protocol: l.protocol()})
	}
	for i := range all {
		all[i].Message = indexed(i)
	}
	return all
}

func indexed(i int) []byte { return []byte{kindMade, byte(i >> 8), byte(i)} }

// PrepareHanded makes cmd start with a control socket among its ExtraFiles, as
// [Prepare] does, but in no namespace of its own: it makes one for the program,
// hands [Want.Handed] out of it, and says so by a [Hand]. All that is left to
// do is done here, while the command does something else: a start is shorter by
// a process.
//
// It works because who makes a user namespace has every capability in it, from
// outside as well (user_namespaces(7)).
func PrepareHanded(cmd *exec.Cmd, want Want) (*Handover, error) {
	if err := want.Check(); err != nil {
		return nil, failed(StepStart, "", err)
	}
	var attr syscall.SysProcAttr
	if cmd.SysProcAttr != nil {
		attr = *cmd.SysProcAttr
	}
	attr.Pdeathsig = syscall.SIGKILL
	h, err := controlled(cmd, want)
	if err != nil {
		return nil, err
	}
	cmd.SysProcAttr, h.handed = &attr, true
	return h, nil
}

// To says which destinations connections are carried to, where that was not
// known yet when the command was prepared: [Want.To] is what [Handover.Receive]
// needs, and the command does not.
func (h *Handover) To(want Want) { h.want.To = want.To }

// receiveHanded takes the sockets and makes the network with them.
func (h *Handover) receiveHanded(got *Listeners) error {
	if err := h.want.Check(); err != nil {
		return err
	}
	here, err := ourNamespace()
	if err != nil {
		return err
	}
	check := checker{here: here}
	from, err := h.take(&check)
	if err != nil {
		return err
	}
	defer from.close()
	fds, all, ipv6, err := settle(from, h.want)
	if err != nil {
		return err
	}
	for i, l := range all {
		// Looked at as what they are now. Each is closed by it.
		if err := check.take(fds[i], l, got); err != nil {
			closeFDs(fds[i+1:])
			return fmt.Errorf("%s: %w", l, err)
		}
	}
	got.IPv6, h.there = ipv6, check.there
	return nil
}

// Starting waits, after [Handover.Receive], until a command that was prepared
// by [PrepareHanded] has all made and the program is about to start. It takes
// as long as the command, whose end is seen: [ErrGone].
func (h *Handover) Starting() error {
	if !h.handed {
		return nil
	}
	if err := h.ours.SetReadDeadline(time.Time{}); err != nil {
		return failed(StepHandOver, "", err)
	}
	kind, fds, err := h.word()
	closeFDs(fds)
	if err == nil && (kind[0] != kindStarting || len(kind) != 1 || len(fds) != 0) {
		err = errMessage
	}
	return failed(StepHandOver, "", err)
}

// take reads the sockets that are handed out, and holds each to what it is said
// to be and all to one network that is not this one: what is done with them is
// done to their network.
func (h *Handover) take(check *checker) (*handed, error) {
	from := &handed{want: h.want.Handed()}
	for {
		b, fds, err := h.word()
		if err == nil && b[0] == kindFinished && len(b) == 1 && len(fds) == 0 {
			if err = from.skip(len(from.want)); err == nil {
				return from, nil
			}
		}
		if err == nil {
			err = from.file(check, b, fds)
		} else {
			closeFDs(fds)
		}
		if err != nil {
			from.close()
			return nil, err
		}
	}
}

// A handed source has the sockets of another process's making.
type handed struct {
	want []Socket
	fds  []int // as many as have come; -1 is none, or one that was taken
}

// file takes one socket with its message.
func (f *handed) file(check *checker, b []byte, fds []int) error {
	if b[0] != kindMade || len(b) != 3 || len(fds) != 1 {
		closeFDs(fds)
		return fmt.Errorf("%w: kind %q, %d bytes, %d descriptors", errMessage, b[0], len(b), len(fds))
	}
	at := int(b[1])<<8 | int(b[2])
	if err := f.skip(at); err != nil || at == len(f.want) {
		closeFDs(fds)
		return cmp.Or(err, fmt.Errorf("%w: socket %d", errMessage, at))
	}
	f.fds = append(f.fds, fds[0])
	s := f.want[at]
	if err := checkKind(fds[0], s.Domain, s.Type, 0, s.Protocol); err != nil {
		return err
	}
	return check.checkNetwork(fds[0])
}

// skip goes on to the socket at an index: of what comes before, those of IPv6
// may be missing.
func (f *handed) skip(at int) error {
	if at < len(f.fds) || at > len(f.want) {
		return fmt.Errorf("%w: socket %d", errMessage, at)
	}
	for _, s := range f.want[len(f.fds):at] {
		if s.Domain != unix.AF_INET6 {
			return fmt.Errorf("%w: a socket is missing", errMessage)
		}
		f.fds = append(f.fds, -1)
	}
	return nil
}

func (f *handed) close() {
	for i, fd := range f.fds {
		if fd >= 0 {
			unix.Close(fd)
			f.fds[i] = -1
		}
	}
}

// one takes the first that is left of a kind.
func (f *handed) one(domain, kind, protocol int) (int, error) {
	for i, fd := range f.fds {
		if s := f.want[i]; fd >= 0 && s.Domain == domain && s.Type == kind && s.Protocol == protocol {
			f.fds[i] = -1
			return fd, nil
		}
	}
	return -1, unix.EAFNOSUPPORT
}

func (f *handed) netlink(family int) (kernel, error) {
	fd, err := f.one(unix.AF_NETLINK, unix.SOCK_RAW, family)
	if err != nil {
		return kernel{}, err
	}
	if err := unix.SetNonblock(fd, false); err != nil { // see kernel
		unix.Close(fd)
		return kernel{}, err
	}
	return netlinkOn(fd)
}

func (f *handed) socket(l listener) (int, error) {
	domain, kind := l.domainAndKind()
	return f.one(domain, kind, l.protocol())
}

// word reads one message, of whatever kind.
func (h *Handover) word() ([]byte, []int, error) {
	b, fds, err := h.read()
	if err == nil && len(b) == 0 {
		err = errMessage
	}
	if err == nil && b[0] == kindOtherwise && len(b) == 1 {
		err = ErrOtherwise
	}
	return b, fds, err
}

// A Hand is the other end of a [Handover] by [PrepareHanded]: the command's.
type Hand struct{ c control }

// TakeHand takes the control socket fd, as [ParseFlags] read it.
func TakeHand(fd int) (*Hand, error) {
	c, err := takeControl(fd)
	if err != nil {
		return nil, err
	}
	return &Hand{c}, nil
}

// FD is the control socket, over which [Want.Handed] go, and then [Finished].
func (h *Hand) FD() int { return h.c.fd }

// Starting says that all is made, and waits until the proxy is ready. After an
// error no program may be started.
func (h *Hand) Starting() error {
	if err := h.c.send([]byte{kindStarting}); err != nil {
		return failed(StepHandOver, "", err)
	}
	return failed(StepWait, "", h.c.wait())
}

// Otherwise says that it cannot be made so.
func (h *Hand) Otherwise() error { return h.c.send([]byte{kindOtherwise}) }

// Close gives it up.
func (h *Hand) Close() { unix.Close(h.c.fd) }

// protocol is that of the socket that l describes.
func (l listener) protocol() int {
	if l.packets() {
		return unix.IPPROTO_UDP
	}
	return unix.IPPROTO_TCP
}
