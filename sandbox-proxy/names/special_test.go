package names

import (
	"net/netip"
	"testing"

	"github.com/miekg/dns"
)

func TestNormal(t *testing.T) {
	for in, want := range map[string]string{
		"Example.COM.": "example.com", "example.com": "example.com", "_acme._tcp.a-b.example.": "_acme._tcp.a-b.example",
		"xn--bcher-kva.example.": "xn--bcher-kva.example", "1.2.3.4.": "1.2.3.4", "com.": "com",
	} {
		if got, ok := normal(in); got != want || !ok {
			t.Errorf("normal(%q) = %q, %v; want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{
		"", ".", "..", "a..b.", ".a", "a.example..", `a\.b.example.`, `a\000.example.`, "a b.example.", "bücher.example.",
		"*.example.", "a/b.example.", "a@b.example.", "a:1.example.", "a%2e.example.", "[a].example.", "a\x00b.example.", "a\x7f.example.",
	} {
		if got, ok := normal(in); ok {
			t.Errorf("normal(%q) = %q; want none", in, got)
		}
	}
}

func TestUnder(t *testing.T) {
	for _, c := range []struct {
		name, zone string
		want       bool
	}{
		{"localhost", "localhost", true}, {"a.localhost", "localhost", true}, {"notlocalhost", "localhost", false},
		{"localhost.example", "localhost", false}, {"resolver.arpa", "resolver.arpa", true},
		{"_dns.resolver.arpa", "resolver.arpa", true}, {"", "localhost", false},
	} {
		if got := under(c.name, c.zone); got != c.want {
			t.Errorf("under(%q, %q) = %v", c.name, c.zone, got)
		}
	}
}

func TestReverseReadsNoMoreThanAnAddress(t *testing.T) {
	for _, in := range []string{
		"in-addr.arpa", "ip6.arpa", "1.in-addr.arpa", "1.2.3.in-addr.arpa", "1.2.3.4.5.in-addr.arpa", "01.2.3.4.in-addr.arpa",
		"256.2.3.4.in-addr.arpa", "a.2.3.4.in-addr.arpa", "+1.2.3.4.in-addr.arpa", "1.ip6.arpa", "0-25.2.3.4.in-addr.arpa",
		"1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa",
		"g.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa",
		"1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0-0.ip6.arpa",
	} {
		if a, is := reverse(in); !is || a.IsValid() {
			t.Errorf("reverse(%q) = %v, %v; want a reverse name of no address", in, a, is)
		}
	}
	for _, in := range []string{"example", "arpa", "notin-addr.arpa", "in-addr.arpa.example"} {
		if a, is := reverse(in); is {
			t.Errorf("reverse(%q) = %v; want no reverse name", in, a)
		}
	}
}

func FuzzReverse(f *testing.F) {
	for _, a := range []string{"127.0.0.1", "198.18.0.2", "::1", "fde2:56fc:2074::c612:2", "255.255.255.255"} {
		f.Add(netip.MustParseAddr(a).AsSlice())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, ok := netip.AddrFromSlice(b)
		if !ok {
			return
		}
		a = a.Unmap()
		name, err := dns.ReverseAddr(a.String())
		if err != nil {
			t.Fatal(err)
		}
		in, _ := normal(name)
		if got, is := reverse(in); !is || got != a {
			t.Errorf("reverse(%q) = %v, %v; want %v", in, got, is, a)
		}
	})
}
