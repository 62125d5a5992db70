package inside

import (
	"fmt"
	"net/netip"
	"strings"
)

// ruleSet is the namespace's nftables rule set as a value: it is installed and
// read back as it stands here. testdata/rules.nft shows it as nft(8) lists it.
type ruleSet struct {
	_ [0]func()

	// Table is the name of the one table, of family inet.
	Table  string
	Chains []chain
}

// A chain is a base chain: it sees packets at its hook.
type chain struct {
	Name     string
	Kind     string // nat or filter
	Hook     string // input, forward or output
	Priority int32
	Accept   bool // the policy; else drop
	Rules    []rule
}

// A rule is a match and a verdict. What is left at its zero value matches
// every packet.
type rule struct {
	Looped bool         // it comes in by loopback
	To     netip.Prefix // its destination
	Over   Protocol     // its transport
	Port   uint16       // its destination port; needs Over
	Told   bool         // whoever holds the network's [Unnamed] is told of it
	Do     action
	// Redirect is the port of loopback it goes to instead, for doRedirect.
	Redirect uint16
}

// Protocol is an IP protocol number; zero is any.
type Protocol uint8

// The protocols that rules tell apart.
const (
	TCP Protocol = 6
	UDP Protocol = 17
)

func (p Protocol) String() string {
	switch p {
	case TCP:
		return "tcp"
	case UDP:
		return "udp"
	}
	return fmt.Sprintf("%d", uint8(p))
}

// action is what becomes of a packet that a rule matches. The zero value is
// none and is refused.
type action uint8

// The verdicts.
const (
	doAccept   action = iota + 1 // it goes on
	doReturn                     // the chain's policy
	doRedirect                   // it goes to a port of loopback, its destination kept
	doReset                      // a TCP reset is its answer
	doProhibit                   // "administratively prohibited" is its answer, and EPERM its sender's
)

// The priorities of the hooks, as linux/netfilter_ipv4.h has them: the
// destination is changed before the filter looks at it.
const (
	priorityDNAT   = -100
	priorityFilter = 0
)

// theRules gives the rule set that carries TCP connections to the destinations,
// or without any to every address.
//
// Destinations are judged by address, not by interface: all there is is
// loopback, and every address is routed to it. Name queries go to the name
// server whatever they were addressed to, loopback included, since resolvers
// ask 127.0.0.53 or what resolv.conf says. After the first chain every TCP
// connection that is carried is addressed to loopback; what the second chain
// still sees of TCP goes to another destination or belongs to no connection, and is
// reset, so that a program's connect(2) fails at once. All else, UDP among it,
// fails with EPERM. Both are told ([Unnamed]).
func theRules(to ...Destination) ruleSet {
	own := []netip.Prefix{
		netip.PrefixFrom(netip.AddrFrom4([4]byte{127}), 8),
		netip.PrefixFrom(Own4, 32),
		netip.PrefixFrom(loopback6, 128),
		netip.PrefixFrom(Own6, 128),
	}
	redirect := []rule{
		{Over: UDP, Port: 53, Do: doRedirect, Redirect: DNSPort},
		{Over: TCP, Port: 53, Do: doRedirect, Redirect: DNSPort},
	}
	var refuse []rule
	for _, to := range own {
		redirect = append(redirect, rule{To: to, Do: doReturn})
		refuse = append(refuse, rule{To: to, Do: doAccept})
	}
	if len(to) == 0 {
		to = []Destination{{}} // every one
	}
	for _, d := range to {
		redirect = append(redirect, rule{To: d.Block, Over: TCP, Port: d.Port, Do: doRedirect, Redirect: TransparentPort})
	}
	refuse = append(refuse, rule{Over: TCP, Told: true, Do: doReset}, rule{Told: true, Do: doProhibit})
	return ruleSet{Table: "lnk", Chains: []chain{
		{Name: "carry", Kind: "nat", Hook: "output", Priority: priorityDNAT, Accept: true, Rules: redirect},
		{Name: "refuse", Kind: "filter", Hook: "output", Priority: priorityFilter, Rules: refuse},
		// Nothing but loopback is there. Should the machine's owner move an
		// interface in, nothing comes in by it and nothing passes through.
		{Name: "arrive", Kind: "filter", Hook: "input", Priority: priorityFilter, Rules: []rule{{Looped: true, Do: doAccept}}},
		{Name: "pass", Kind: "filter", Hook: "forward", Priority: priorityFilter},
	}}
}

func (r rule) String() string {
	var w []string
	if r.Looped {
		w = append(w, `iif "lo"`)
	}
	if r.To.IsValid() {
		family, to := "ip6", r.To.Addr().String()
		if r.To.Addr().Is4() {
			family = "ip"
		}
		if !r.To.IsSingleIP() {
			to = r.To.String()
		}
		w = append(w, family, "daddr", to)
	}
	switch {
	case r.Port != 0:
		w = append(w, r.Over.String(), "dport", fmt.Sprint(r.Port))
	case r.Over != 0:
		w = append(w, "meta l4proto", r.Over.String())
	}
	if r.Told {
		w = append(w, fmt.Sprintf("log group %d snaplen %d queue-threshold 1", unnamedGroup, unnamedBytes))
	}
	switch r.Do {
	case doAccept:
		w = append(w, "accept")
	case doReturn:
		w = append(w, "return")
	case doRedirect:
		w = append(w, fmt.Sprintf("redirect to :%d", r.Redirect))
	case doReset:
		w = append(w, "reject with tcp reset")
	case doProhibit:
		w = append(w, "reject with icmpx admin-prohibited")
	default:
		w = append(w, fmt.Sprintf("verdict %d", r.Do))
	}
	return strings.Join(w, " ")
}
