package inside

import "golang.org/x/sys/unix"

// A source has the sockets that a network is made with: those of this
// process's own, or others that were handed out of it. Either way the kernel
// lets whoever made the network's user namespace do all of it
// (user_namespaces(7)).
type source interface {
	netlink(family int) (kernel, error)
	// socket gives one for a listener, not bound yet.
	socket(l listener) (int, error)
}

// settle makes a new network into the program's: loopback and its addresses,
// the listeners, in their order, and the rules. The last of the listeners is
// what tells of calls that no rule carries, where the kernel has that.
func settle(in source, want Want) (fds []int, all []listener, ipv6 bool, err error) {
	if ipv6, err = bringUp(in); err != nil {
		return nil, nil, false, err
	}
	all = listeners(want, ipv6)
	if fds, err = openAll(in, all); err != nil {
		return nil, nil, false, err
	}
	rules, unnamed, err := installTold(in, want.To)
	if unnamed >= 0 {
		fds, all = append(fds, unnamed), append(all, unnamedListener)
	}
	if err == nil {
		err = readBack(in, rules)
	}
	if err != nil {
		closeFDs(fds)
		return nil, nil, false, err
	}
	return fds, all, ipv6, nil
}

// ours is the network of this process's own.
type ours struct{}

func (ours) netlink(family int) (kernel, error) {
	s, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, family)
	if err != nil {
		return kernel{}, err
	}
	return netlinkOn(s)
}

func (ours) socket(l listener) (int, error) {
	domain, kind := l.domainAndKind()
	return unix.Socket(domain, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
}
