package names

import "net/netip"

var (
	loopback4 = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	loopback6 = netip.IPv6Loopback()
)

// Answers that hold nothing.
var (
	noData  = answer{negative: true}
	noName  = answer{code: codeNoName, negative: true}
	blocked = answer{code: codeNoName, negative: true, blocked: true}
	// blockedAbove is for a name with others under it: that it is not there
	// would be remembered of those too (RFC 8020).
	blockedAbove = answer{negative: true, blocked: true}
)

// answer decides what a query gets. The order matters: what is answered in one
// way for everyone comes before what the judge is asked about.
func (s *Server) answer(q query) answer {
	if q.class != classIN {
		return answer{code: codeRefused}
	}
	if q.name == "." {
		return noData // it exists, and says nothing
	}
	name, ok := normal(q.name)
	if !ok {
		return noName
	}
	for _, zone := range never {
		if under(name, zone) {
			return noName
		}
	}
	if under(name, "localhost") || s.Hostname != "" && name == s.hostname() { // RFC 6761, section 6.3
		return s.addressed(q.kind, loopback4, loopback6)
	}
	if a, is := reverse(name); is {
		if aboveNamed(name) {
			return noData
		}
		return s.named(q.kind, a)
	}
	above := name == "arpa" || s.Above != nil && s.Above(name)
	if above && q.kind != typeA && q.kind != typeAAAA && q.kind != typeANY {
		return noData // nobody is told: resolvers ask so on their way down
	}
	if !s.allows(name, q.kind) {
		if above {
			return blockedAbove
		}
		return blocked
	}
	if q.kind != typeA && q.kind != typeAAAA {
		return s.addressed(q.kind, netip.Addr{}, netip.Addr{})
	}
	v4, v6, err := s.Pool.Addresses(name)
	if err != nil {
		if s.Full != nil {
			s.Full(name)
		}
		return answer{code: codeServer}
	}
	return s.addressed(q.kind, v4, v6)
}

// records are the kinds of [Server.Records].
var records = map[uint16]string{typeMX: "MX", typeTXT: "TXT", typeSRV: "SRV", typeNAPTR: "NAPTR", typeURI: "URI"}

func (s *Server) allows(name string, kind uint16) bool {
	if record, is := records[kind]; is && s.Records != nil {
		return s.Records(name, record)
	}
	return s.Allowed != nil && s.Allowed(name)
}

func (s *Server) hostname() string {
	name, _ := normal(s.Hostname)
	return name
}

// addressed answers for a name that has these addresses and nothing else.
func (s *Server) addressed(kind uint16, v4, v6 netip.Addr) answer {
	switch {
	case kind == typeA:
		return answer{records: []record{{kind: typeA, addr: v4}}}
	case kind == typeAAAA && s.IPv6:
		return answer{records: []record{{kind: typeAAAA, addr: v6}}}
	case kind == typeANY:
		return answer{records: []record{{kind: typeHINFO}}}
	}
	return noData
}

// named answers for a name of the reverse trees. Only the addresses of this
// sandbox have names; those of every other network are not there.
func (s *Server) named(kind uint16, a netip.Addr) answer {
	name := ""
	switch {
	case !a.IsValid():
	case a.IsLoopback():
		name = "localhost"
	case a == own4 || a == own6:
		name = s.hostname()
	default:
		name, _ = s.Pool.Name(a)
	}
	switch {
	case name == "":
		return noName
	case kind == typePTR:
		return answer{records: []record{{kind: typePTR, name: name}}}
	case kind == typeANY:
		return answer{records: []record{{kind: typeHINFO}}}
	}
	return noData
}
