package judge

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

const (
	maxHostBytes  = 255 // as SOCKS5 can carry it (RFC 1928 section 5), before IDNA
	maxNameBytes  = 253 // RFC 1035 section 2.3.4, without the trailing dot
	maxLabelBytes = 63
)

// A host is a name or an address, in normal form, never both.
type host struct {
	name string
	addr netip.Addr
}

func (h host) String() string {
	if h.addr.Is6() {
		return "[" + h.addr.String() + "]"
	}
	if h.addr.IsValid() {
		return h.addr.String()
	}
	return h.name
}

// withPort writes the host as a call names it.
func (h host) withPort(port uint16) string {
	return h.String() + ":" + strconv.Itoa(int(port))
}

func (h host) literal() bool { return h.addr.IsValid() }

// localName says whether the name is loopback's by RFC 6761 section 6.3.
func (h host) localName() bool {
	return h.name == "localhost" || strings.HasSuffix(h.name, ".localhost")
}

// profile folds names as a resolver of names typed by people would, so that
// what is folded can be looked at, and refused where it was not what it seemed.
var profile = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(false))

// parseHost brings a host into its one normal form, or refuses it. An IPv6
// address may stand in brackets or bare: who reads a request knows which its
// protocol wants.
func parseHost(s string) (host, error) {
	if s == "" {
		return host{}, errors.New("empty")
	}
	if len(s) > maxHostBytes {
		return host{}, fmt.Errorf("longer than %d bytes", maxHostBytes)
	}
	for i := range len(s) {
		// The percent sign is a zone's too: an address with one is no host.
		if c := s[i]; c < 0x21 || c == 0x7f || strings.IndexByte(`%/\@?#*"<>`, c) >= 0 {
			return host{}, fmt.Errorf("a byte that no host has: %#02x", c)
		}
	}
	if in, ok := strings.CutPrefix(s, "["); ok {
		in, ok = strings.CutSuffix(in, "]")
		addr, err := netip.ParseAddr(in)
		if !ok || err != nil || !addr.Is6() {
			return host{}, errors.New("brackets hold something other than an IPv6 address")
		}
		return host{addr: addr.Unmap()}, nil
	}
	if strings.IndexByte(s, ':') >= 0 {
		addr, err := netip.ParseAddr(s)
		if err != nil {
			return host{}, errors.New("neither a name nor an IPv6 address")
		}
		return host{addr: addr.Unmap()}, nil
	}
	name, err := parseName(s)
	if err != nil {
		return host{}, err
	}
	if !endsInNumber(name) {
		return host{name: name}, nil
	}
	// Resolvers, upstreams and browsers read 127.1, 0x7f.1 and 2130706433 as
	// addresses, each in its own way. Only the form that all read alike is one.
	addr, err := netip.ParseAddr(name)
	if err != nil {
		return host{}, errors.New("ends in a number and is not an IPv4 address of four decimal numbers")
	}
	return host{addr: addr}, nil
}

// parseName gives the name in lower case ASCII, without its trailing dot.
func parseName(s string) (string, error) {
	if !ascii(s) {
		folded, err := foldName(s)
		if err != nil {
			return "", err
		}
		s = folded // and on with what came out: U+3002 and full-width digits fold to 127.0.0.1
	}
	name := strings.ToLower(s)
	name = strings.TrimSuffix(name, ".")
	if name == "" || len(name) > maxNameBytes {
		return "", fmt.Errorf("not 1 to %d bytes long", maxNameBytes)
	}
	for label := range strings.SplitSeq(name, ".") {
		if err := checkLabel(label); err != nil {
			return "", err
		}
	}
	if strings.Contains(name, "xn--") {
		if _, err := profile.ToUnicode(name); err != nil {
			return "", errors.New("holds punycode that is not a name's")
		}
	}
	return name, nil
}

// foldName gives the punycode of a name that is not ASCII. What folds to
// something that is written otherwise (full-width letters, an ideographic full
// stop) is refused: it was made to look like what it is not.
func foldName(s string) (string, error) {
	folded, err := profile.ToASCII(s)
	if err != nil {
		return "", errors.New("not a name that has a punycode form")
	}
	wide, err := profile.ToUnicode(folded)
	if err != nil || wide != strings.ToLower(s) {
		return "", errors.New("not the name it folds to: write that one, " + Shown(folded))
	}
	return folded, nil
}

func checkLabel(label string) error {
	if label == "" {
		return errors.New("an empty label")
	}
	if len(label) > maxLabelBytes {
		return fmt.Errorf("a label longer than %d bytes", maxLabelBytes)
	}
	if label[0] == '-' || label[len(label)-1] == '-' {
		return errors.New("a label that starts or ends with a hyphen")
	}
	for i := range len(label) {
		c := label[i]
		if c != '-' && c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return fmt.Errorf("a byte that no name has: %#02x", c)
		}
	}
	return nil
}

// endsInNumber is the rule of the WHATWG URL standard, "ends in a number".
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// ParsePort reads a port as it is written in a request: 1 to 65535, digits
// only, no zero in front.
func ParsePort(s string) (uint16, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n == 0 || strconv.FormatUint(n, 10) != s {
		return 0, errors.New("not a port: want 1 to 65535")
	}
	return uint16(n), nil
}

// maxShown bounds what of a host stands in a message.
const maxShown = 300

// Shown writes what a program sent so that it can stand in a message, a log
// or a page: control bytes, quotes, what HTML gives a meaning to and all that
// is not ASCII are escaped.
func Shown(s string) string {
	cut := ""
	if len(s) > maxShown {
		s, cut = s[:maxShown], "..."
	}
	quoted := strconv.QuoteToASCII(s)
	return htmlEscapes.Replace(quoted[1:len(quoted)-1]) + cut
}

var htmlEscapes = strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`, "'", `\u0027`)
