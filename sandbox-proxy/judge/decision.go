package judge

import (
	"net/netip"
	"strconv"
)

// By is what a call came in by.
type By string

// What a call can come in by.
const (
	ByConnect     By = "connect"     // HTTP CONNECT
	ByHTTP        By = "http"        // a plain http request
	BySOCKS       By = "socks"       // SOCKS5
	ByTransparent By = "transparent" // a connection that was meant for another address
	ByUDP         By = "udp"         // a datagram, which nothing carries
	ByDNS         By = "dns"         // a name that was asked for
	ByPort        By = "port"        // a port of loopback that is carried into the sandbox
	ByRoute       By = "route"       // a route that goes to a host
	ByServe       By = "serve"       // a connection of this machine to a port inside
)

// A Call is one call of the program: the host as it was written, and the port.
type Call struct {
	By   By
	Host string
	Port uint16
	// Onward says that an upstream resolves the name and dials. The name is
	// then resolved here only to refuse it: that it has no address here
	// refuses nothing.
	Onward bool
}

// Reason is why a call is refused, as one word: the value of the header
// Lnk-Refused. The zero Reason is none.
type Reason string

// The reasons of a judge.
const (
	Malformed  Reason = "malformed"   // no host or port that anything has
	Host       Reason = "host"        // no rule names the host
	Port       Reason = "port"        // a rule names the host, none names it at this port
	Address    Reason = "address"     // the host has an address that is closed
	NoInternet Reason = "no_internet" // the sandbox has no internet
	Unresolved Reason = "unresolved"  // no address is known for the name
	Unsure     Reason = "unsure"      // this machine's own addresses could not be read
)

// Protocol is what must be spoken on a connection for its rule to hold.
type Protocol uint8

const (
	// AnyProtocol is what tcp and ports mean, and hosts at a port that the
	// entry gives.
	AnyProtocol Protocol = iota
	// TLS is what hosts means at 443: a server name, where one is sent, is the
	// call's host.
	TLS
	// HTTP is what hosts means at 80: each request's Host is the call's host.
	HTTP
)

// An Open is what would let a refused call through.
type Open struct {
	// Member is the member of the confinement or the spec, with its value:
	// hosts = ["evil.example"].
	Member string
	// Flag is the argument of lnk sandbox run: --internet-host evil.example.
	// It is empty where there is none.
	Flag string
}

// String is both in the words of a message, or "" when nothing opens the call.
func (o Open) String() string {
	if o.Flag == "" {
		return o.Member
	}
	return o.Member + " or " + o.Flag
}

// A Decision is what becomes of a call.
type Decision struct {
	Allowed bool
	// Host is the host in normal form, an IPv6 address in brackets. Of a
	// malformed call it is what was sent, escaped.
	Host string
	Port uint16
	// Addrs are the addresses to dial, each judged, in the order to try them.
	// They are empty where the call was not resolved.
	Addrs []netip.AddrPort
	// Expect is what must be spoken.
	Expect Protocol
	// Literal says that the call named an address, not a name.
	Literal bool

	// Why not, when it is not allowed. Detail is for people: no capital, no
	// full stop, nothing in it that the program sent and nothing of the
	// machine's network.
	Reason Reason
	Detail string
	Open   Open
	// Refused is the address that refused the call. It is for the owner's log:
	// telling the program would let it map the network.
	Refused netip.Addr
}

// Target is host:port, as a CONNECT names it.
func (d Decision) Target() string {
	return d.Host + ":" + strconv.Itoa(int(d.Port))
}

func refused(h string, port uint16, why Reason, detail string, open Open) Decision {
	return Decision{Host: h, Port: port, Reason: why, Detail: detail, Open: open}
}
