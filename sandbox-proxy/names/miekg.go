package names

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/miekg/dns"
)

// ednsSize is the UDP size that is offered and kept to, in bytes: what passes
// every path unfragmented (DNS flag day 2020).
const ednsSize = 1232

const (
	headerSize = 12
	// maxExtra bounds the additional records of a query: OPT, and a signature
	// that is not looked at.
	maxExtra = 2
)

// miekg is the codec made with github.com/miekg/dns, version 1. Only its
// reading and writing of messages is used: its server starts a goroutine a
// query and cannot be bounded.
type miekg struct {
	ttl      uint32
	negative uint32
}

func newMiekg(ttl time.Duration) miekg {
	return miekg{ttl: uint32(ttl / time.Second), negative: uint32(minTTL / time.Second)}
}

func (miekg) parse(b []byte) (q query, v verdict) {
	if len(b) < headerSize {
		return query{}, silence
	}
	bits := binary.BigEndian.Uint16(b[2:])
	q = query{
		id: binary.BigEndian.Uint16(b), opcode: uint8(bits >> 11 & 0xf),
		rd: bits&(1<<8) != 0, cd: bits&(1<<4) != 0,
	}
	if bits&(1<<15) != 0 { // QR
		return query{}, silence
	}
	if q.opcode != opcodeQuery {
		return q, badOpcode
	}
	count := func(i int) int { return int(binary.BigEndian.Uint16(b[i:])) }
	// The library makes room for as many records as the header claims, so
	// these are looked at first.
	if count(4) != 1 || count(6) != 0 || count(8) != 0 || count(10) > maxExtra || !plainQuestion(b[headerSize:]) {
		return q, badFormat
	}
	m, err := unpack(b)
	if err != nil || len(m.Question) != 1 || len(m.Extra) != count(10) {
		return q, badFormat
	}
	asked := q
	asked.name, asked.kind, asked.class = m.Question[0].Name, m.Question[0].Qtype, m.Question[0].Qclass
	for _, rr := range m.Extra {
		opt, ok := rr.(*dns.OPT)
		if !ok {
			continue
		}
		if asked.edns.there || opt.Hdr.Name != "." {
			return q, badFormat // RFC 6891, section 6.1.1
		}
		asked.edns = edns{there: true, version: opt.Version(), size: opt.UDPSize(), do: opt.Do()}
	}
	if asked.edns.version != 0 {
		return asked, badVersion
	}
	return asked, fine
}

// unpack reads a message. The library has panicked on messages before, and one
// packet of the program's must not end the proxy.
func unpack(b []byte) (m *dns.Msg, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("unreadable: %v", p)
		}
	}()
	m = new(dns.Msg)
	return m, m.Unpack(b)
}

// plainQuestion says whether b starts with a whole question whose name is
// written out: a pointer has nothing to point at there but the header.
func plainQuestion(b []byte) bool {
	for n := 0; n < len(b); {
		l := int(b[n])
		n += 1 + l
		switch {
		case l > 63 || n > 255:
			return false
		case l == 0:
			return n+4 <= len(b)
		}
	}
	return false
}

func (c miekg) pack(q query, a answer, limit int) ([]byte, error) {
	m := new(dns.Msg)
	m.MsgHdr = dns.MsgHdr{
		Id: q.id, Response: true, Opcode: int(q.opcode), RecursionDesired: q.rd,
		RecursionAvailable: true, CheckingDisabled: q.cd, Rcode: a.code,
	}
	if !a.bare {
		m.Question = []dns.Question{{Name: q.name, Qtype: q.kind, Qclass: q.class}}
	}
	for _, r := range a.records {
		m.Answer = append(m.Answer, c.rr(q.name, r))
	}
	if a.negative {
		m.Ns = []dns.RR{c.soa()}
	}
	if q.edns.there {
		opt := &dns.OPT{Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeOPT}}
		opt.SetUDPSize(ednsSize)
		opt.SetDo(q.edns.do)
		if a.blocked {
			opt.Option = []dns.EDNS0{&dns.EDNS0_EDE{InfoCode: dns.ExtendedErrorCodeBlocked, ExtraText: blockedText}}
		}
		m.Extra = []dns.RR{opt}
	}
	m.Compress = true
	b, err := m.Pack()
	if err != nil || len(b) <= limit {
		return b, err
	}
	// All or nothing: the client asks again over TCP.
	m.Truncated, m.Answer, m.Ns = true, nil, nil
	if b, err = m.Pack(); err == nil && len(b) > limit {
		m.Extra = nil
		b, err = m.Pack()
	}
	return b, err
}

// blockedText is what a person sees in the answer to a denied name.
const blockedText = "the sandbox's hosts do not name it"

func (c miekg) rr(name string, r record) dns.RR {
	h := dns.RR_Header{Name: name, Rrtype: r.kind, Class: classIN, Ttl: c.ttl}
	switch r.kind {
	case typeA:
		return &dns.A{Hdr: h, A: r.addr.AsSlice()}
	case typeAAAA:
		return &dns.AAAA{Hdr: h, AAAA: r.addr.AsSlice()}
	case typePTR:
		return &dns.PTR{Hdr: h, Ptr: dns.Fqdn(r.name)}
	default: // typeHINFO, the answer to ANY (RFC 8482, section 4.2)
		h.Rrtype = typeHINFO
		return &dns.HINFO{Hdr: h, Cpu: "RFC8482"}
	}
}

// soa is the record that bounds how long a negative answer is kept (RFC 2308,
// section 5). The root is above every name that can be asked.
func (c miekg) soa() dns.RR {
	return &dns.SOA{
		Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeSOA, Class: classIN, Ttl: c.negative},
		Ns:  "sandbox.invalid.", Mbox: "nobody.invalid.",
		Serial: 1, Refresh: 3600, Retry: 600, Expire: 86400, Minttl: c.negative,
	}
}
