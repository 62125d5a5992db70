package inside

import (
	"golang.org/x/sys/unix"
)

// backlog is how many connections wait to be accepted; the kernel cuts it to
// net.core.somaxconn, 4096 in a new namespace.
const backlog = 4096

// domainAndKind are those of the socket that l describes.
func (l listener) domainAndKind() (domain, kind int) {
	kind = unix.SOCK_STREAM
	if l.packets() {
		kind = unix.SOCK_DGRAM
	}
	return domainOf(l.at.Addr()), kind
}

// open makes the socket that l describes. It is bound to exactly one address:
// a UDP socket bound to all of them would answer a redirected query from
// another source than it was sent to, and conntrack would drop the answer.
func open(in source, l listener) (int, error) {
	var at unix.Sockaddr = &unix.SockaddrInet6{Port: int(l.at.Port()), Addr: l.at.Addr().As16()}
	if l.at.Addr().Is4() {
		at = &unix.SockaddrInet4{Port: int(l.at.Port()), Addr: l.at.Addr().As4()}
	}
	s, err := in.socket(l)
	if err != nil {
		return -1, err
	}
	if l.at.Addr().Is6() {
		err = unix.SetsockoptInt(s, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1)
	}
	if err == nil {
		err = unix.Bind(s, at)
	}
	if err == nil && !l.packets() {
		err = unix.Listen(s, backlog)
	}
	if err != nil {
		unix.Close(s)
		return -1, err
	}
	return s, nil
}

// openAll opens them in their order; on failure none stays open.
func openAll(in source, all []listener) ([]int, error) {
	fds := make([]int, 0, len(all))
	for _, l := range all {
		s, err := open(in, l)
		if err != nil {
			closeFDs(fds)
			return nil, failed(StepListen, l.String(), err)
		}
		fds = append(fds, s)
	}
	return fds, nil
}

func closeFDs(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}
