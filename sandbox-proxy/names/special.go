package names

import (
	"net/netip"
	"strconv"
	"strings"
)

// Names that are answered in one way, whatever is allowed. A name that ends in
// one of them counts as it does.
var never = []string{
	"use-application-dns.net",               // Firefox turns DNS over HTTPS on unless this is NXDOMAIN
	"mask.icloud.com", "mask-h2.icloud.com", // iCloud Private Relay, in the same way
	"resolver.arpa", // discovery of encrypted resolvers (RFC 9462)
	"invalid",       // RFC 6761, section 6.4
}

// normal is a name as it is judged and kept: lower case, without the dot at
// its end. It is false for one that is no host's: an empty label, or a byte
// that is no letter, digit, - or _, which is where the library would write an
// escape.
func normal(name string) (string, bool) {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	empty := true
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_':
			empty = false
		case c == '.' && !empty:
			empty = true
		default:
			return "", false
		}
	}
	return name, !empty
}

// under says whether name is zone or ends in it.
func under(name, zone string) bool {
	rest, found := strings.CutSuffix(name, zone)
	return found && (rest == "" || rest[len(rest)-1] == '.')
}

// reverse reads a name of the reverse trees (RFC 1035, section 3.5; RFC 3596,
// section 2.5). The address is valid only when the name holds a whole one.
func reverse(name string) (a netip.Addr, is bool) {
	if under(name, "in-addr.arpa") {
		return reverse4(strings.TrimSuffix(name, ".in-addr.arpa")), true
	}
	if under(name, "ip6.arpa") {
		return reverse6(strings.TrimSuffix(name, ".ip6.arpa")), true
	}
	return netip.Addr{}, false
}

// aboveNamed says whether a name of the reverse trees is above those of
// addresses that have names here.
func aboveNamed(name string) bool {
	for _, all := range [...]netip.Prefix{Block4, netip.PrefixFrom(loopback4, 8), Block6, netip.PrefixFrom(loopback6, 128)} {
		labels, zone, bits := 4, "in-addr.arpa", 8
		if all.Addr().Is6() {
			labels, zone, bits = 32, "ip6.arpa", 4
		}
		rest, in := strings.CutSuffix(name, zone)
		n := strings.Count(rest, ".")
		if !in || n >= labels {
			continue
		}
		a := netip.Addr{}
		if whole := strings.TrimSuffix(strings.Repeat("0.", labels-n)+rest, "."); labels == 4 {
			a = reverse4(whole)
		} else {
			a = reverse6(whole)
		}
		if a.IsValid() && netip.PrefixFrom(a, n*bits).Overlaps(all) {
			return true
		}
	}
	return false
}

func reverse4(s string) netip.Addr {
	var a [4]byte
	label := strings.Split(s, ".")
	if len(label) != len(a) {
		return netip.Addr{}
	}
	for i, l := range label {
		n, err := strconv.ParseUint(l, 10, 8)
		if err != nil || strconv.FormatUint(n, 10) != l {
			return netip.Addr{}
		}
		a[len(a)-1-i] = byte(n)
	}
	return netip.AddrFrom4(a)
}

func reverse6(s string) netip.Addr {
	var a [16]byte
	if len(s) != 2*2*len(a)-1 {
		return netip.Addr{}
	}
	for i := range 2 * len(a) {
		n, err := strconv.ParseUint(s[2*i:2*i+1], 16, 4)
		if err != nil || i > 0 && s[2*i-1] != '.' {
			return netip.Addr{}
		}
		at := 2*len(a) - 1 - i
		a[at/2] |= byte(n) << (4 * (1 - at%2))
	}
	return netip.AddrFrom16(a)
}
