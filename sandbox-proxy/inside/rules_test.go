package inside

import (
	_ "embed"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/names"
)

//go:embed testdata/rules.nft
var goldenRules string

// listed is the rule set as nft(8) 1.0 lists it.
func listed(r ruleSet) string {
	var b strings.Builder
	fmt.Fprintf(&b, "table inet %s {\n", r.Table)
	for i, c := range r.Chains {
		if i > 0 {
			b.WriteByte('\n')
		}
		policy := "drop"
		if c.Accept {
			policy = "accept"
		}
		priority := "filter"
		if c.Priority == priorityDNAT {
			priority = "-100" // nft has a name for it in prerouting only
		}
		fmt.Fprintf(&b, "\tchain %s {\n\t\ttype %s hook %s priority %s; policy %s;\n", c.Name, c.Kind, c.Hook, priority, policy)
		for _, rule := range c.Rules {
			fmt.Fprintf(&b, "\t\t%s\n", rule)
		}
		b.WriteString("\t}\n")
	}
	b.WriteString("}\n")
	return b.String()
}

func TestRulesAsShown(t *testing.T) {
	if got := listed(theRules()); got != goldenRules {
		t.Errorf("the rules are\n%s", got)
	}
}

func TestARuleWithoutAVerdictShowsIt(t *testing.T) {
	if got := (rule{Over: 132}).String(); got != "meta l4proto 132 verdict 0" {
		t.Errorf("got %s", got)
	}
}

// verdict is what the rule set does with a new connection or packet, as the
// kernel would: the nat chain first, which changes the destination of what it
// redirects, then the filter.
func verdict(r ruleSet, over Protocol, to netip.AddrPort) string {
	first := func(c chain) rule {
		for _, rule := range c.Rules {
			if (!rule.To.IsValid() || rule.To.Contains(to.Addr())) && (rule.Over == 0 || rule.Over == over) &&
				(rule.Port == 0 || rule.Port == to.Port()) {
				return rule
			}
		}
		if c.Accept {
			return rule{Do: doAccept}
		}
		return rule{}
	}
	how := ""
	if rule := first(r.Chains[0]); rule.Do == doRedirect {
		at := loopback4
		if to.Addr().Is6() {
			at = loopback6
		}
		to, how = netip.AddrPortFrom(at, rule.Redirect), "to "
	}
	switch first(r.Chains[1]).Do {
	case doAccept:
		return how + to.String()
	case doReset:
		return "reset"
	case doProhibit:
		return "prohibit"
	}
	return "drop"
}

func TestWhatTheRulesDo(t *testing.T) {
	const icmp = 1
	for _, c := range []struct {
		over     Protocol
		to, want string
	}{
		{TCP, "192.0.2.1:443", "to 127.0.0.1:61"}, {TCP, "[2001:db8::1]:443", "to [::1]:61"},
		{TCP, "169.254.169.254:80", "to 127.0.0.1:61"}, {TCP, "198.18.0.2:22", "to 127.0.0.1:61"},
		{TCP, "8.8.8.8:53", "to 127.0.0.1:53"}, {UDP, "8.8.8.8:53", "to 127.0.0.1:53"}, {UDP, "[2001:db8::1]:53", "to [::1]:53"},
		{UDP, "127.0.0.53:53", "to 127.0.0.1:53"}, {UDP, "[::1]:53", "to [::1]:53"},
		{TCP, "127.0.0.1:3128", "127.0.0.1:3128"}, {UDP, "127.5.5.5:99", "127.5.5.5:99"}, {TCP, "[::1]:1", "[::1]:1"},
		{TCP, "198.18.0.1:80", "198.18.0.1:80"}, {UDP, "198.18.0.1:40000", "198.18.0.1:40000"},
		{icmp, "127.0.0.1:0", "127.0.0.1:0"}, {icmp, "198.18.0.1:0", "198.18.0.1:0"},
		{UDP, "8.8.8.8:443", "prohibit"}, {UDP, "[2001:db8::1]:123", "prohibit"}, {UDP, "198.18.0.2:443", "prohibit"},
		{icmp, "8.8.8.8:0", "prohibit"}, {132, "192.0.2.1:80", "prohibit"}, {UDP, "224.0.0.251:5353", "prohibit"},
	} {
		if got := verdict(theRules(), c.over, netip.MustParseAddrPort(c.to)); got != c.want {
			t.Errorf("%v to %s: %s; want %s", c.over, c.to, got, c.want)
		}
	}
}

// The sandbox's own addresses are in the blocks that names are given addresses
// out of, and no name has them.
func TestOwnAddressesAreNoNames(t *testing.T) {
	if !names.Block4.Contains(Own4) || !names.Block6.Contains(Own6) {
		t.Errorf("%v and %v are not in %v and %v", Own4, Own6, names.Block4, names.Block6)
	}
	p := names.NewPool(nil)
	for i := range 1000 {
		v4, v6, err := p.Addresses(strings.Repeat("a", i+1))
		if err != nil || v4 == Own4 || v6 == Own6 {
			t.Fatalf("name %d has %v and %v: %v", i, v4, v6, err)
		}
	}
	for _, a := range []netip.Addr{Own4, Own6} {
		if name, ok := p.Name(a); ok {
			t.Errorf("%v is %q", a, name)
		}
	}
}
