package inside

import (
	"errors"
	"net"
)

// Listeners are the namespace's listening sockets, held outside. Connections
// accepted on them, and packets read from them, come from the program.
//
// Each is there once for IPv4 and, when IPv6 is true, once for IPv6, in that order.
type Listeners struct {
	_ [0]func()

	// Proxy are 127.0.0.1 and ::1 at [Want.ProxyPort]; nil when that is zero.
	Proxy []net.Listener
	// Transparent get every TCP connection that was meant for another address;
	// [OriginalDst] says which.
	Transparent []net.Listener
	// DNSPackets get the program's name queries over UDP.
	DNSPackets []net.PacketConn
	// DNSStreams get them over TCP.
	DNSStreams []net.Listener
	// Ports are 127.0.0.1 and ::1 at each of [Want.Ports].
	Ports map[uint16][]net.Listener
	// Unnamed tells of the calls that nothing carries; nil where the kernel
	// does not.
	Unnamed *Unnamed
	// IPv6 says whether the namespace has IPv6. Without it name servers
	// should give no AAAA.
	IPv6 bool
}

// Close closes them all. Connections that were accepted stay open.
func (l *Listeners) Close() error {
	var errs []error
	for _, set := range [][]net.Listener{l.Proxy, l.Transparent, l.DNSStreams} {
		errs = append(errs, closeAll(set))
	}
	for _, set := range l.Ports {
		errs = append(errs, closeAll(set))
	}
	for _, p := range l.DNSPackets {
		errs = append(errs, p.Close())
	}
	if l.Unnamed != nil {
		errs = append(errs, l.Unnamed.Close())
	}
	return errors.Join(errs...)
}

func closeAll(set []net.Listener) error {
	var errs []error
	for _, l := range set {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

// add files a socket under its role.
func (l *Listeners) add(as listener, stream net.Listener, packets net.PacketConn) {
	switch as.role {
	case roleProxy:
		l.Proxy = append(l.Proxy, stream)
	case roleTransparent:
		l.Transparent = append(l.Transparent, stream)
	case roleDNSStreams:
		l.DNSStreams = append(l.DNSStreams, stream)
	case roleDNSPackets:
		l.DNSPackets = append(l.DNSPackets, packets)
	case rolePort:
		if l.Ports == nil {
			l.Ports = map[uint16][]net.Listener{}
		}
		l.Ports[as.at.Port()] = append(l.Ports[as.at.Port()], stream)
	}
}
