package judge

import "net/netip"

// A class is what kind of address one is.
type class uint8

const (
	internet class = iota
	// What lan opens.
	private
	shared
	linkLocal
	uniqueLocal
	attached
	// What nothing opens, but loopback by ports.
	loopback
	own
	metadata
	unspecified
	multicast
	benchmark
	reserved
)

// lan says whether the class is what the member lan opens.
func (c class) lan() bool { return c >= private && c <= attached }

// never says whether no rule but ports can open the class.
func (c class) never() bool { return c >= loopback }

// String is the class as a message names an address of it.
func (c class) String() string {
	switch c {
	case internet:
		return "an address of the internet"
	case private:
		return "a private address"
	case shared:
		return "a shared address (RFC 6598)"
	case linkLocal:
		return "a link-local address"
	case uniqueLocal:
		return "a unique-local address"
	case attached:
		return "an address in a network this machine is attached to"
	case loopback:
		return "this machine's loopback"
	case own:
		return "an address of this machine"
	case metadata:
		return "a cloud's metadata address"
	case unspecified:
		return "the unspecified address"
	case multicast:
		return "a multicast address"
	case benchmark:
		return "an address for benchmarks (RFC 2544), which VPNs give out in place of real ones"
	}
	return "a reserved address"
}

// A block is a range of addresses and its class.
type block struct {
	prefix netip.Prefix
	class  class
}

// blocks4 is the IANA IPv4 Special-Purpose Address Registry as it stood in
// November 2026, less the blocks of AS112 and AMT that are reachable for everybody, with
// multicast (RFC 5771). The documentation blocks are internet: it has nothing
// there, and test networks live in them.
var blocks4 = []block{
	{netip.MustParsePrefix("0.0.0.0/8"), unspecified},
	{netip.MustParsePrefix("10.0.0.0/8"), private},
	{netip.MustParsePrefix("100.64.0.0/10"), shared},
	{netip.MustParsePrefix("127.0.0.0/8"), loopback},
	{netip.MustParsePrefix("169.254.0.0/16"), linkLocal},
	{netip.MustParsePrefix("172.16.0.0/12"), private},
	{netip.MustParsePrefix("192.0.0.0/24"), reserved},
	{netip.MustParsePrefix("192.0.2.0/24"), internet},
	{netip.MustParsePrefix("192.88.99.0/24"), reserved},
	{netip.MustParsePrefix("192.168.0.0/16"), private},
	{netip.MustParsePrefix("198.18.0.0/15"), benchmark},
	{netip.MustParsePrefix("198.51.100.0/24"), internet},
	{netip.MustParsePrefix("203.0.113.0/24"), internet},
	{netip.MustParsePrefix("224.0.0.0/4"), multicast},
	{netip.MustParsePrefix("240.0.0.0/4"), reserved},
}

// blocks6 are the parts of IPv6 that are not reserved: the global unicast
// space (RFC 4291 section 2.4) less what the IANA IPv6 Special-Purpose Address
// Registry as of November 2026 takes out of it, and the local ones. What is in
// none is reserved, so that a block that IANA gives a meaning later is closed
// until it stands here. First match.
var blocks6 = []block{
	{netip.MustParsePrefix("::1/128"), loopback},
	{netip.MustParsePrefix("::/128"), unspecified},
	{netip.MustParsePrefix("2001:db8::/32"), internet}, // documentation
	{netip.MustParsePrefix("2001::/23"), reserved},     // Teredo, ORCHID, benchmarks and the rest of the IETF's
	{netip.MustParsePrefix("2002::/16"), reserved},     // 6to4 carries an IPv4 address past every check of it
	{netip.MustParsePrefix("3fff::/20"), internet},     // documentation
	{netip.MustParsePrefix("2000::/3"), internet},
	{netip.MustParsePrefix("fc00::/7"), uniqueLocal},
	{netip.MustParsePrefix("fe80::/10"), linkLocal},
	{netip.MustParsePrefix("ff00::/8"), multicast},
}

// documentation are the blocks that stay internet even where this machine is
// attached to a network in one.
var documentation = []netip.Prefix{
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("3fff::/20"),
}

// nat64 is the well-known prefix of RFC 6052: behind DNS64 every host that has
// only IPv4 is seen in it, so it is judged by the address it carries.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// metadataAddrs are where clouds hand credentials to whoever asks from inside
// a machine, and the services of the same kind that stand beside them.
var metadataAddrs = addrSet(
	"169.254.169.254",                       // AWS, Azure, Google, OpenStack and most others
	"169.254.169.253",                       // AWS: the resolver
	"169.254.169.123",                       // AWS: time
	"169.254.170.2",                         // AWS: containers' credentials
	"169.254.170.23",                        // AWS: pods' credentials
	"169.254.0.23",                          // Tencent
	"169.254.42.42",                         // Scaleway
	"100.100.100.200",                       // Alibaba
	"192.0.0.192",                           // Oracle
	"168.63.129.16",                         // Azure: the wire server, in the internet's own space
	"fd00:ec2::23",                          // AWS: pods' credentials
	"fd00:ec2::123",                         // AWS: time
	"fd00:ec2::253",                         // AWS: the resolver
	"fd00:ec2::254",                         // AWS
	"fd00:42::42",                           // Scaleway
	"fd00:c1::a9fe:a9fe", "fe80::a9fe:a9fe", // Oracle, OpenStack
	"fd20:ce::254", // Google
)

// metadataNames are refused without asking what they resolve to: with an
// upstream it is the upstream that would ask.
var metadataNames = map[string]bool{
	"metadata.google.internal":   true,
	"metadata.goog":              true,
	"instance-data.ec2.internal": true,
	"metadata.tencentyun.com":    true,
}

func addrSet(all ...string) map[netip.Addr]bool {
	set := make(map[netip.Addr]bool, len(all))
	for _, a := range all {
		set[netip.MustParseAddr(a)] = true
	}
	return set
}

// classOf says what an address is on a machine with these interfaces, each
// the machine's address with the length of its network.
func classOf(a netip.Addr, interfaces []netip.Prefix) class {
	if a.Zone() != "" || !a.IsValid() {
		return reserved
	}
	a = a.Unmap()
	if nat64.Contains(a) {
		b := a.As16()
		return classOf(netip.AddrFrom4([4]byte(b[12:])), interfaces)
	}
	if metadataAddrs[a] {
		return metadata
	}
	c := registered(a)
	if c == loopback || c == unspecified || c == multicast {
		return c
	}
	near := false
	for _, p := range interfaces {
		if p.Addr().Unmap() == a {
			return own
		}
		near = near || p.Contains(a)
	}
	if c.lan() || contains(documentation, a) {
		return c
	}
	if near {
		return attached
	}
	return c
}

func registered(a netip.Addr) class {
	blocks, other := blocks4, internet
	if a.Is6() {
		blocks, other = blocks6, reserved
	}
	for _, b := range blocks {
		if b.prefix.Contains(a) {
			return b.class
		}
	}
	return other
}

func contains(all []netip.Prefix, a netip.Addr) bool {
	for _, p := range all {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
