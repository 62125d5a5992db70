package inside

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// OriginalDst says which address and port a connection accepted on
// [Listeners.Transparent] was meant for. It is as the program gave it: for the
// judge to decide about. A connection made to the listener itself is
// [ErrNotRedirected].
func OriginalDst(c net.Conn) (netip.AddrPort, error) {
	raw, ok := c.(syscall.Conn)
	if !ok {
		return netip.AddrPort{}, fmt.Errorf("original destination: %T is no socket", c)
	}
	local, ok := c.LocalAddr().(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, fmt.Errorf("original destination: %v is no TCP address", c.LocalAddr())
	}
	at := netip.AddrPortFrom(local.AddrPort().Addr().Unmap(), local.AddrPort().Port())
	sock, err := raw.SyscallConn()
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("original destination: %w", err)
	}
	var dst netip.AddrPort
	var got error
	read := readDst6
	if at.Addr().Is4() {
		read = readDst4
	}
	if err := sock.Control(func(fd uintptr) { dst, got = read(int(fd)) }); err != nil {
		return netip.AddrPort{}, fmt.Errorf("original destination: %w", err)
	}
	if errors.Is(got, unix.ENOENT) || got == nil && dst == at {
		got = ErrNotRedirected
	}
	if got != nil {
		return netip.AddrPort{}, fmt.Errorf("original destination: %w", got)
	}
	return dst, nil
}

// soOriginalDst is SO_ORIGINAL_DST (linux/netfilter_ipv4.h) and
// IP6T_SO_ORIGINAL_DST (linux/netfilter_ipv6/ip6_tables.h).
const soOriginalDst = 80

// readDst4 reads a struct sockaddr_in, 16 bytes, which is as long as the
// address in front of a struct ipv6_mreq.
func readDst4(fd int) (netip.AddrPort, error) {
	m, err := unix.GetsockoptIPv6Mreq(fd, unix.SOL_IP, soOriginalDst)
	if err != nil {
		return netip.AddrPort{}, err
	}
	b := m.Multiaddr
	if binary.NativeEndian.Uint16(b[:]) != unix.AF_INET {
		return netip.AddrPort{}, unix.EAFNOSUPPORT
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:8])), binary.BigEndian.Uint16(b[2:])), nil
}

// readDst6 reads a struct sockaddr_in6, which a struct ip6_mtuinfo starts with.
func readDst6(fd int) (netip.AddrPort, error) {
	m, err := unix.GetsockoptIPv6MTUInfo(fd, unix.SOL_IPV6, soOriginalDst)
	if err != nil {
		return netip.AddrPort{}, err
	}
	if m.Addr.Family != unix.AF_INET6 {
		return netip.AddrPort{}, unix.EAFNOSUPPORT
	}
	port := binary.BigEndian.Uint16(binary.NativeEndian.AppendUint16(nil, m.Addr.Port))
	return netip.AddrPortFrom(netip.AddrFrom16(m.Addr.Addr), port), nil
}
