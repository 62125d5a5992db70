package names

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// asked counts what the judge is asked.
type asked map[string]int

// testServer allows what ends in allowed.example and machine, to see that the
// machine's name is not asked about.
func testServer() (*Server, asked) {
	a := asked{}
	return &Server{
		Allowed: func(name string) bool {
			a[name]++
			return under(name, "allowed.example") || under(name, "net") || under(name, "com") || under(name, "arpa") ||
				under(name, "localhost") || under(name, "invalid")
		},
		Above: func(name string) bool { return name == "above.example" || name == "allowed.example.com" },
		Pool:  NewPool(newClock().now), Hostname: "Machine", IPv6: true,
	}, a
}

// ask makes a message as a resolver does.
func ask(name string, kind uint16, change ...func(*dns.Msg)) []byte {
	m := new(dns.Msg)
	m.SetQuestion(name, kind)
	m.Id = 0x1234
	m.SetEdns0(1232, false)
	for _, c := range change {
		c(m)
	}
	b, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return b
}

// reply gives the answer to a message, checked for what holds for every one.
func replyTo(t *testing.T, s *Server, message []byte, udp bool) *dns.Msg {
	t.Helper()
	b := s.respond(s.codec(), message, udp)
	if b == nil {
		return nil
	}
	m := new(dns.Msg)
	if err := m.Unpack(b); err != nil {
		t.Fatalf("the answer cannot be read: %v", err)
	}
	checkHeader(t, message, b)
	return m
}

// checkHeader holds the answer's head against the question's.
func checkHeader(t *testing.T, q, a []byte) {
	t.Helper()
	const qr, aa, rd, ra, z, ad, cd, opcode = 1 << 15, 1 << 10, 1 << 8, 1 << 7, 1 << 6, 1 << 5, 1 << 4, 0xf << 11
	was, is := binary.BigEndian.Uint16(q[2:]), binary.BigEndian.Uint16(a[2:])
	switch {
	case !bytes.Equal(q[:2], a[:2]):
		t.Errorf("id %x became %x", q[:2], a[:2])
	case was&qr != 0:
		t.Error("an answer was answered")
	case is&qr == 0 || is&ra == 0 || is&(aa|z|ad) != 0:
		t.Errorf("flags are %016b", is)
	case was&(opcode|rd|cd) != is&(opcode|rd|cd):
		t.Errorf("opcode, RD and CD were %016b and became %016b", was, is)
	}
	if questions := binary.BigEndian.Uint16(a[4:]); questions == 1 {
		end := headerSize + bytes.IndexByte(q[headerSize:], 0) + 5
		if !bytes.HasPrefix(a[headerSize:], q[headerSize:end]) {
			t.Errorf("question %q became %q", q[headerSize:end], a[headerSize:end])
		}
	} else if questions != 0 {
		t.Errorf("the answer has %d questions", questions)
	}
}

// show is an answer in short.
func show(m *dns.Msg) string {
	if m == nil {
		return "silence"
	}
	s := []string{dns.RcodeToString[m.Rcode]}
	for _, rr := range m.Answer {
		s = append(s, strings.Join(strings.Fields(rr.String()), " "))
	}
	for _, rr := range m.Ns {
		s = append(s, fmt.Sprintf("%s %d", dns.TypeToString[rr.Header().Rrtype], rr.Header().Ttl))
	}
	if o := m.IsEdns0(); o != nil {
		for _, e := range o.Option {
			s = append(s, e.String())
		}
	}
	return strings.Join(s, "; ")
}

func TestAnswers(t *testing.T) {
	const none, denied, gone = "NOERROR; SOA 5", "NXDOMAIN; SOA 5; 15 (Blocked): (the sandbox's hosts do not name it)", "NXDOMAIN; SOA 5"
	const above = "NOERROR; SOA 5; 15 (Blocked): (the sandbox's hosts do not name it)"
	for _, c := range []struct {
		name string
		kind uint16
		want string
	}{
		{"allowed.example.", dns.TypeA, "NOERROR; allowed.example. 60 IN A 198.18.0.2"},
		{"aLLowed.eXample.", dns.TypeA, "NOERROR; aLLowed.eXample. 60 IN A 198.18.0.2"},
		{"allowed.example.", dns.TypeAAAA, "NOERROR; allowed.example. 60 IN AAAA fde2:56fc:2074::c612:2"},
		{"www.allowed.example.", dns.TypeA, "NOERROR; www.allowed.example. 60 IN A 198.18.0.3"},
		{"allowed.example.", dns.TypeHTTPS, none},
		{"allowed.example.", dns.TypeSVCB, none},
		{"allowed.example.", dns.TypeTXT, none},
		{"allowed.example.", dns.TypeMX, none},
		{"allowed.example.", dns.TypeNS, none},
		{"allowed.example.", dns.TypeSOA, none},
		{"allowed.example.", dns.TypeCNAME, none},
		{"allowed.example.", dns.TypeNULL, none},
		{"allowed.example.", dns.TypeDS, none},
		{"allowed.example.", dns.TypePTR, none},
		{"allowed.example.", dns.TypeAXFR, none},
		{"allowed.example.", 65280, none},
		{"allowed.example.", dns.TypeANY, `NOERROR; allowed.example. 60 IN HINFO "RFC8482" ""`},

		{"denied.example.", dns.TypeA, denied},
		{"denied.example.", dns.TypeAAAA, denied},
		{"denied.example.", dns.TypeTXT, denied},
		{"denied.example.", dns.TypeANY, denied},
		{"secret-data.denied.example.", dns.TypeA, denied},
		{"notallowed.example.", dns.TypeA, denied},
		{"example.", dns.TypeA, denied},
		{"1.2.3.4.", dns.TypeA, denied},

		{".", dns.TypeNS, none},
		{".", dns.TypeA, none},
		{`a\.allowed.example.`, dns.TypeA, gone},
		{`a\000.allowed.example.`, dns.TypeA, gone},
		{`a\032b.allowed.example.`, dns.TypeA, gone},
		{`*.allowed.example.`, dns.TypeA, gone},
		{`b\195\188cher.allowed.example.`, dns.TypeA, gone},

		{"localhost.", dns.TypeA, "NOERROR; localhost. 60 IN A 127.0.0.1"},
		{"LocalHost.", dns.TypeAAAA, "NOERROR; LocalHost. 60 IN AAAA ::1"},
		{"a.b.localhost.", dns.TypeA, "NOERROR; a.b.localhost. 60 IN A 127.0.0.1"},
		{"localhost.", dns.TypeTXT, none},
		{"machine.", dns.TypeA, "NOERROR; machine. 60 IN A 127.0.0.1"},
		{"machine.", dns.TypeAAAA, "NOERROR; machine. 60 IN AAAA ::1"},
		{"machine.", dns.TypeMX, none},
		{"a.machine.", dns.TypeA, denied},

		{"use-application-dns.net.", dns.TypeA, gone},
		{"mask.icloud.com.", dns.TypeA, gone},
		{"mask-h2.icloud.com.", dns.TypeHTTPS, gone},
		{"_dns.resolver.arpa.", dns.TypeSVCB, gone},
		{"a.invalid.", dns.TypeA, gone},

		{"1.0.0.127.in-addr.arpa.", dns.TypePTR, "NOERROR; 1.0.0.127.in-addr.arpa. 60 IN PTR localhost."},
		{"2.0.18.198.in-addr.arpa.", dns.TypePTR, "NOERROR; 2.0.18.198.in-addr.arpa. 60 IN PTR allowed.example."},
		{"2.0.18.198.in-addr.arpa.", dns.TypeTXT, none},
		{"2.0.18.198.in-addr.arpa.", dns.TypeANY, `NOERROR; 2.0.18.198.in-addr.arpa. 60 IN HINFO "RFC8482" ""`},
		{"9.0.18.198.in-addr.arpa.", dns.TypePTR, gone},
		{"1.0.18.198.in-addr.arpa.", dns.TypePTR, "NOERROR; 1.0.18.198.in-addr.arpa. 60 IN PTR machine."},
		{"1.1.168.192.in-addr.arpa.", dns.TypePTR, gone},
		{"8.8.8.8.in-addr.arpa.", dns.TypePTR, gone},
		{"168.192.in-addr.arpa.", dns.TypeSOA, gone},
		{"x.18.198.in-addr.arpa.", dns.TypePTR, gone},
		{"20.198.in-addr.arpa.", dns.TypeNS, gone},
		{"0.8.e.f.ip6.arpa.", dns.TypeNS, gone},

		// What is above a name that is there is there too (RFC 8020).
		{"arpa.", dns.TypeNS, none},
		{"in-addr.arpa.", dns.TypePTR, none},
		{"198.in-addr.arpa.", dns.TypeNS, none},
		{"19.198.in-addr.arpa.", dns.TypeDS, none},
		{"0.18.198.in-addr.arpa.", dns.TypeSOA, none},
		{"0.0.127.in-addr.arpa.", dns.TypeSOA, none},
		{"ip6.arpa.", dns.TypeNS, none},
		{"2.e.d.f.ip6.arpa.", dns.TypeNS, none},
		{"0.0.0.0.ip6.arpa.", dns.TypeNS, none},
		{"above.example.", dns.TypeA, above},
		{"aBove.example.", dns.TypeAAAA, above},
		{"above.example.", dns.TypeANY, above},
		{"above.example.", dns.TypeNS, none},
		{"above.example.", dns.TypeDS, none},
		{"under.above.example.", dns.TypeA, denied},
		{"allowed.example.com.", dns.TypeANY, `NOERROR; allowed.example.com. 60 IN HINFO "RFC8482" ""`},
		{"2.0.0.0.2.1.6.c.0.0.0.0.0.0.0.0.0.0.0.0.4.7.0.2.c.f.6.5.2.e.d.f.ip6.arpa.", dns.TypePTR,
			"NOERROR; 2.0.0.0.2.1.6.c.0.0.0.0.0.0.0.0.0.0.0.0.4.7.0.2.c.f.6.5.2.e.d.f.ip6.arpa. 60 IN PTR allowed.example."},
		{"1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa.", dns.TypePTR,
			"NOERROR; 1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa. 60 IN PTR localhost."},
		{"1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.e.f.ip6.arpa.", dns.TypePTR, gone},
	} {
		t.Run(c.name+" "+dns.TypeToString[c.kind], func(t *testing.T) {
			s, _ := testServer()
			s.Pool.Addresses("allowed.example")
			for _, udp := range []bool{true, false} {
				if got := show(replyTo(t, s, ask(c.name, c.kind), udp)); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
			}
		})
	}
}

func TestTheJudgeIsAskedInNormalForm(t *testing.T) {
	for in, want := range map[string]string{
		"WWW.Allowed.Example.": "www.allowed.example", "denied.example.": "denied.example",
		"localhost.": "", "machine.": "", "a.invalid.": "", "8.8.8.8.in-addr.arpa.": "", ".": "",
		`a\.b.example.`: "", "use-application-dns.net.": "",
	} {
		s, asked := testServer()
		replyTo(t, s, ask(in, dns.TypeA), true)
		for name := range asked {
			if name != want {
				t.Errorf("%s: the judge was asked about %q", in, name)
			}
		}
		if want != "" && asked[want] != 1 {
			t.Errorf("%s: the judge was asked %d times", in, asked[want])
		}
	}
}

func TestWithoutAJudgeNothingIsAllowed(t *testing.T) {
	s := &Server{Pool: NewPool(nil)}
	if m := replyTo(t, s, ask("allowed.example.", dns.TypeA), true); m.Rcode != dns.RcodeNameError {
		t.Errorf("got %s", show(m))
	}
}

func TestWithoutIPv6ThereIsNoAAAA(t *testing.T) {
	s, _ := testServer()
	s.IPv6 = false
	for _, name := range []string{"allowed.example.", "localhost.", "machine."} {
		if got := show(replyTo(t, s, ask(name, dns.TypeAAAA), true)); got != "NOERROR; SOA 5" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestAFullPoolIsAFailureAndNotAName(t *testing.T) {
	s, _ := testServer()
	for i := range MaxNames {
		if _, _, err := s.Pool.Addresses(fmt.Sprintf("n%d.example", i)); err != nil {
			t.Fatal(err)
		}
	}
	told := ""
	s.Full = func(name string) { told += name + " " }
	if got := show(replyTo(t, s, ask("Allowed.example.", dns.TypeA), true)); got != "SERVFAIL" {
		t.Errorf("got %s", got)
	}
	if replyTo(t, s, ask("denied.example.", dns.TypeA), true); told != "allowed.example " {
		t.Errorf("told of %q", told)
	}
}

func TestOnlyAddressesTakeAnAddress(t *testing.T) {
	s, _ := testServer()
	for _, kind := range []uint16{dns.TypeTXT, dns.TypeHTTPS, dns.TypeANY} {
		replyTo(t, s, ask("allowed.example.", kind), true)
	}
	if len(s.Pool.byName) != 0 {
		t.Errorf("the pool holds %d names", len(s.Pool.byName))
	}
}

func TestTTLIsBounded(t *testing.T) {
	for in, want := range map[time.Duration]uint32{0: 60, time.Second: 5, 5 * time.Second: 5, 30 * time.Second: 30, time.Hour: 60, -1: 5} {
		s, _ := testServer()
		s.TTL = in
		m := replyTo(t, s, ask("allowed.example.", dns.TypeA), true)
		if got := m.Answer[0].Header().Ttl; got != want {
			t.Errorf("TTL %v: %d; want %d", in, got, want)
		}
	}
}

func TestBlockIsTheOneThatIsGivenOutOf(t *testing.T) {
	s, _ := testServer()
	m := replyTo(t, s, ask("allowed.example.", dns.TypeA), true)
	a, _ := netip.AddrFromSlice(m.Answer[0].(*dns.A).A)
	if name, ok := s.Pool.Name(a); !ok || name != "allowed.example" {
		t.Errorf("Name(%v) = %q, %v", a, name, ok)
	}
}

// What programs go by that no name has is asked about by its kind, and of the
// rest nothing else than whether the name is allowed.
func TestRecords(t *testing.T) {
	s, a := testServer()
	var kinds []string
	s.Records = func(name, kind string) bool {
		kinds = append(kinds, kind+" "+name)
		return under(name, "allowed.example")
	}
	for name, want := range map[string]string{"allowed.example.": "NOERROR; SOA 5", "_x._tcp.denied.example.": "NXDOMAIN; SOA 5; 15 (Blocked): (the sandbox's hosts do not name it)"} {
		for _, kind := range []uint16{dns.TypeMX, dns.TypeTXT, dns.TypeSRV, dns.TypeNAPTR, dns.TypeURI} {
			kinds = nil
			if got := show(replyTo(t, s, ask(name, kind), true)); got != want || len(a) > 0 {
				t.Errorf("%s of %s: %s, asked %v", dns.TypeToString[kind], name, got, a)
			}
			if asked := dns.TypeToString[kind] + " " + strings.TrimSuffix(name, "."); len(kinds) != 1 || kinds[0] != asked {
				t.Errorf("%s: asked %q", asked, kinds)
			}
		}
	}
	kinds = nil
	for _, kind := range []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeANY, dns.TypeHTTPS, dns.TypeSVCB, dns.TypeCAA, dns.TypeNS, dns.TypeDS} {
		replyTo(t, s, ask("allowed.example.", kind), true)
	}
	if len(kinds) > 0 || a["allowed.example"] != 8 {
		t.Errorf("asked by kind %q, by name %v", kinds, a)
	}
}
