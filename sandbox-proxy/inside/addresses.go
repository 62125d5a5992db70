package inside

import "net/netip"

// The namespace's own addresses, beside 127.0.0.1 and ::1. The kernel takes
// them as the source of a connection to any other address. They are the first
// of the blocks that package names gives out of, and never given to a name:
// IPv4 out of 198.18.0.0/15, set aside for benchmarks (RFC 2544), IPv6 out of
// a unique local block made as RFC 4193, section 3.2.2 asks.
var (
	Own4 = netip.AddrFrom4([4]byte{198, 18, 0, 1})
	Own6 = netip.AddrFrom16([16]byte{0xfd, 0xe2, 0x56, 0xfc, 0x20, 0x74, 12: 198, 13: 18, 14: 0, 15: 1})
)

var (
	loopback4 = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	loopback6 = netip.IPv6Loopback()
)

// Ports of loopback that the namespace keeps for itself. Both are below 1024,
// where nothing without CAP_NET_BIND_SERVICE can bind: the program cannot take
// the place of a listener. They are fixed so that the rules can be shown before
// a sandbox starts.
const (
	// DNSPort is the name server's, over UDP and TCP.
	DNSPort = 53
	// TransparentPort is where TCP connections to other addresses arrive.
	// IANA has it unassigned.
	TransparentPort = 61
)
