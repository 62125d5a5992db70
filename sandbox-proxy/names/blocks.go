package names

import (
	"encoding/binary"
	"net/netip"
)

// The blocks that addresses are given out of. IPv4's is set aside for
// benchmarks (RFC 2544, in the IANA special-purpose registry), and not routed;
// the documentation blocks are left to test networks. IPv6's is a unique local
// one with a random global ID (RFC 4193, section 3.2.2). A name's IPv6 address
// ends in its IPv4 address.
var (
	Block4 = netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18}), 15)
	Block6 = netip.PrefixFrom(netip.AddrFrom16([16]byte{0xfd, 0xe2, 0x56, 0xfc, 0x20, 0x74}), 64)
)

// Of each 256 addresses of Block4, the first and the last look like a network
// and its broadcast address to some programs and are left out, and of the
// whole block the first that is not: it is the sandbox's own.
const (
	perRow    = 254
	rows      = 512
	addresses = rows*perRow - 1
)

var (
	own4 = netip.AddrFrom4([4]byte{198, 18, 0, 1})
	own6 = six(own4)
)

// four is the address with the number i, 0 to addresses-1.
func four(i int) netip.Addr {
	i++
	first := Block4.Addr().As4()
	var a [4]byte
	binary.BigEndian.PutUint32(a[:], binary.BigEndian.Uint32(first[:])+uint32(i/perRow)<<8+uint32(i%perRow)+1)
	return netip.AddrFrom4(a)
}

// six is the IPv6 address that goes with an IPv4 one.
func six(v4 netip.Addr) netip.Addr {
	a, b := Block6.Addr().As16(), v4.As4()
	copy(a[12:], b[:])
	return netip.AddrFrom16(a)
}

// number is the inverse of four and six. Of Block6 only the addresses that six
// gives count.
func number(a netip.Addr) (int, bool) {
	a = a.Unmap()
	if Block6.Contains(a) {
		b := a.As16()
		v4 := netip.AddrFrom4([4]byte(b[12:]))
		if six(v4) != a {
			return 0, false
		}
		a = v4
	}
	if !Block4.Contains(a) {
		return 0, false
	}
	first, b := Block4.Addr().As4(), a.As4()
	offset := binary.BigEndian.Uint32(b[:]) - binary.BigEndian.Uint32(first[:])
	row, column := int(offset>>8), int(offset&0xff)-1
	if column < 0 || column >= perRow {
		return 0, false
	}
	i := row*perRow + column - 1
	return i, i >= 0
}
