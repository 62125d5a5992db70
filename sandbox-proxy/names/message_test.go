package names

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

func raw(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// one is the question "a." for an A record, after a header's counts.
const one = "0161 00 0001 0001"

func TestMalformed(t *testing.T) {
	for _, c := range []struct{ what, message, want string }{
		{"nothing", "", "silence"},
		{"half a header", "1234 0100 0001 0000 0000 00", "silence"},
		{"a header alone", "1234 0100 0000 0000 0000 0000", "FORMERR"},
		{"a question promised (miekg/dns#1375)", "1234 0100 0001 0000 0000 0000", "FORMERR"},
		{"an answer", "1234 8100 0001 0000 0000 0000" + one, "silence"},
		{"an answer that is malformed", "1234 8100 ffff ffff ffff ffff", "silence"},
		{"two questions", "1234 0100 0002 0000 0000 0000" + one + one, "FORMERR"},
		{"counts that promise much", "1234 0100 ffff ffff ffff ffff" + one, "FORMERR"},
		{"an answer record", "1234 0100 0001 0001 0000 0000" + one + "00 0001 0001 00000000 0004 7f000001", "FORMERR"},
		{"an authority record", "1234 0100 0001 0000 0001 0000" + one + "00 0002 0001 00000000 0001 00", "FORMERR"},
		{"three additional records", "1234 0100 0001 0000 0000 0003" + one + strings.Repeat("00 0010 0001 00000000 0001 00", 3), "FORMERR"},
		{"an additional record that is missing", "1234 0100 0001 0000 0000 0001" + one, "FORMERR"},
		{"a name without its end", "1234 0100 0001 0000 0000 0000 0161", "FORMERR"},
		{"a question without its class", "1234 0100 0001 0000 0000 0000 0161 00 0001 00", "FORMERR"},
		{"a name that points at itself", "1234 0100 0001 0000 0000 0000 c00c 0001 0001", "FORMERR"},
		{"a name that points into the header", "1234 0100 0001 0000 0000 0000 c004 0001 0001", "FORMERR"},
		{"a label of 64 bytes", "1234 0100 0001 0000 0000 0000 40" + strings.Repeat("61", 64) + "00 0001 0001", "FORMERR"},
		{"a name of 256 bytes", "1234 0100 0001 0000 0000 0000" + strings.Repeat("3f"+strings.Repeat("61", 63), 4) + "00 0001 0001", "FORMERR"},
		{"two OPT records", "1234 0100 0001 0000 0000 0002" + one + strings.Repeat("00 0029 04d0 00000000 0000", 2), "FORMERR"},
		{"an OPT record that is not the root's", "1234 0100 0001 0000 0000 0001" + one + "0161 00 0029 04d0 00000000 0000", "FORMERR"},
		{"an OPT record cut short", "1234 0100 0001 0000 0000 0001" + one + "00 0029 04d0 00000000 0010", "FORMERR"},
		{"EDNS version 1", "1234 0100 0001 0000 0000 0001" + one + "00 0029 04d0 00010000 0000", "BADVERS"},
		{"a status query", "1234 1100 0001 0000 0000 0000" + one, "NOTIMP"},
		{"an update", "1234 2900 0001 0000 0000 0000" + one, "NOTIMP"},
		{"a notification", "1234 2100 0001 0000 0000 0000" + one, "NOTIMP"},
		{"an opcode that is none", "1234 7900 0000 0000 0000 0000", "NOTIMP"},
		{"class CH", "1234 0100 0001 0000 0000 0000 0161 00 0010 0003", "REFUSED"},
		{"class ANY", "1234 0100 0001 0000 0000 0000 0161 00 0001 00ff", "REFUSED"},
		{"class NONE", "1234 0100 0001 0000 0000 0000 0161 00 0001 00fe", "REFUSED"},
	} {
		t.Run(c.what, func(t *testing.T) {
			s, asked := testServer()
			message := raw(t, c.message)
			for _, udp := range []bool{true, false} {
				got := "silence"
				if m := replyTo(t, s, message, udp); m != nil {
					got = dns.RcodeToString[m.Rcode]
					if m.Rcode == dns.RcodeBadVers {
						got = "BADVERS" // the library has two names for it
						if o := m.IsEdns0(); o == nil || o.Version() != 0 {
							t.Error("the version that is known is not given")
						}
					}
					if len(m.Answer) != 0 {
						t.Errorf("it has an answer: %s", show(m))
					}
				}
				if got != c.want {
					t.Errorf("got %s; want %s", got, c.want)
				}
			}
			if len(asked) != 0 {
				t.Errorf("the judge was asked: %v", asked)
			}
		})
	}
}

func TestAQueryThatIsTooLongIsMalformed(t *testing.T) {
	s, _ := testServer()
	padded := func(n int) []byte {
		return ask("allowed.example.", dns.TypeA, func(m *dns.Msg) {
			m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_PADDING{Padding: make([]byte, n)}}
		})
	}
	fits := padded(0)
	fits = padded(maxQuery - len(fits))
	if m := replyTo(t, s, fits, true); len(fits) != maxQuery || m.Rcode != dns.RcodeSuccess {
		t.Errorf("%d bytes: %s", len(fits), show(m))
	}
	if m := replyTo(t, s, append(fits, 0), true); m.Rcode != dns.RcodeFormatError {
		t.Errorf("a byte more: %s", show(m))
	}
}

// checkHeader holds each of them against the question's.
func TestFlags(t *testing.T) {
	s, _ := testServer()
	for bits := range 1 << 7 {
		message := ask("allowed.example.", dns.TypeA, func(m *dns.Msg) {
			m.RecursionDesired, m.CheckingDisabled, m.AuthenticatedData = bits&1 != 0, bits&2 != 0, bits&4 != 0
			m.Authoritative, m.Truncated, m.RecursionAvailable, m.Zero = bits&8 != 0, bits&16 != 0, bits&32 != 0, bits&64 != 0
		})
		if m := replyTo(t, s, message, true); m.Truncated || len(m.Answer) != 1 {
			t.Errorf("flags %07b: %s", bits, show(m))
		}
	}
}

func TestEDNS(t *testing.T) {
	s, _ := testServer()
	without := replyTo(t, s, ask("denied.example.", dns.TypeA, func(m *dns.Msg) { m.Extra = nil }), true)
	if without.IsEdns0() != nil {
		t.Error("an OPT record was given to one who sent none")
	}
	for _, do := range []bool{false, true} {
		m := replyTo(t, s, ask("allowed.example.", dns.TypeA, func(m *dns.Msg) { m.Extra = nil; m.SetEdns0(4096, do) }), true)
		if o := m.IsEdns0(); o == nil || o.UDPSize() != 1232 || o.Do() != do || o.Version() != 0 {
			t.Errorf("the OPT record is %v", o)
		}
	}
}

// No answer of the server's own comes near 512 bytes, so what is too long is
// made here.
func TestTruncation(t *testing.T) {
	c := newMiekg(maxTTL)
	q, v := c.parse(ask("allowed.example.", dns.TypeA))
	if v != fine {
		t.Fatal(v)
	}
	var a answer
	for i := range 200 {
		a.records = append(a.records, record{kind: typeA, addr: netip.AddrFrom4([4]byte{198, 18, 1, byte(i)})})
	}
	for _, limit := range []int{minUDP, ednsSize, 40, 30} {
		b, err := c.pack(q, a, limit)
		m := new(dns.Msg)
		if err == nil {
			err = m.Unpack(b)
		}
		if err != nil || len(b) > max(limit, 33) || !m.Truncated || len(m.Answer) != 0 || len(m.Question) != 1 {
			t.Errorf("limit %d: %d bytes, %v: %v", limit, len(b), err, m)
		}
	}
	b, err := c.pack(q, a, maxTCP)
	m := new(dns.Msg)
	if err == nil {
		err = m.Unpack(b)
	}
	if err != nil || m.Truncated || len(m.Answer) != 200 {
		t.Errorf("over TCP: %v, %d records", err, len(m.Answer))
	}
}

func TestLimitOverUDP(t *testing.T) {
	for _, c := range []struct {
		edns bool
		size uint16
		want int
	}{{false, 0, 512}, {true, 0, 512}, {true, 100, 512}, {true, 800, 800}, {true, 1232, 1232}, {true, 65535, 1232}} {
		if got := limitOf(query{edns: edns{there: c.edns, size: c.size}}, true); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	if got := limitOf(query{edns: edns{there: true, size: 512}}, false); got != 65535 {
		t.Errorf("over TCP: %d", got)
	}
}

// Whatever comes in, what goes out is an answer to it, and gives addresses to
// allowed names only.
func FuzzRespond(f *testing.F) {
	for _, name := range []string{"allowed.example.", "denied.example.", "localhost.", ".", "2.0.18.198.in-addr.arpa.", `a\.b.allowed.example.`} {
		for _, kind := range []uint16{dns.TypeA, dns.TypeAAAA, dns.TypePTR, dns.TypeANY, dns.TypeHTTPS} {
			f.Add(ask(name, kind))
		}
	}
	f.Add(raw(f, "1234 0100 ffff ffff ffff ffff"+one))
	f.Add(raw(f, "1234 0100 0001 0000 0000 0001"+one+"00 0029 04d0 00010000 0000"))
	s, _ := testServer()
	c := s.codec()
	f.Fuzz(func(t *testing.T, message []byte) {
		for _, udp := range []bool{true, false} {
			b := s.respond(c, message, udp)
			if len(message) < headerSize || message[2]&0x80 != 0 {
				if b != nil {
					t.Fatal("it was answered")
				}
				continue
			}
			if b == nil {
				t.Fatal("it was not answered")
			}
			if udp && len(b) > ednsSize {
				t.Fatalf("%d bytes over UDP", len(b))
			}
			checkHeader(t, message, b)
			m := new(dns.Msg)
			if err := m.Unpack(b); err != nil {
				t.Fatalf("the answer cannot be read: %v", err)
			}
			checkRecords(t, s, m, binary.BigEndian.Uint16(message[4:]))
		}
	})
}

func checkRecords(t *testing.T, s *Server, m *dns.Msg, questions uint16) {
	t.Helper()
	if len(m.Answer) > 0 && (questions != 1 || m.Rcode != dns.RcodeSuccess) {
		t.Fatalf("%d questions and an answer: %v", questions, m)
	}
	for _, rr := range m.Answer {
		name, _ := normal(m.Question[0].Name)
		var a netip.Addr
		switch rr := rr.(type) {
		case *dns.A:
			a, _ = netip.AddrFromSlice(rr.A)
		case *dns.AAAA:
			a, _ = netip.AddrFromSlice(rr.AAAA)
		case *dns.PTR, *dns.HINFO:
			continue
		default:
			t.Fatalf("a record of type %d", rr.Header().Rrtype)
		}
		of, pooled := s.Pool.Name(a)
		switch {
		case a.IsLoopback() && (under(name, "localhost") || name == "machine"):
		case pooled && of == name && s.Allowed(name):
		default:
			t.Fatalf("%q has %v, which is %q's", name, a, of)
		}
	}
}
