package inside

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// encode turns a rule into the kernel's expressions, in the same order and the
// same way as nft(8) does, so that nft lists them as [Rule.String] shows them.
func encode(r Rule) ([]byte, error) {
	e, err := expressions(r)
	if err != nil {
		return nil, err
	}
	var b []byte
	for _, x := range e {
		one, err := expr.Marshal(unix.NFPROTO_INET, x)
		if err != nil {
			return nil, fmt.Errorf("rule %q: %w", r, err)
		}
		b = append(b, attribute(nested|unix.NFTA_LIST_ELEM, one...)...)
	}
	return b, nil
}

func expressions(r Rule) ([]expr.Any, error) {
	var e []expr.Any
	if r.Looped {
		e = append(e, &expr.Meta{Key: expr.MetaKeyIIF, Register: 1}, equal(binary.NativeEndian.AppendUint32(nil, loopbackIndex)))
	}
	if r.To.IsValid() {
		if bits := r.To.Bits(); bits == 0 || bits%8 != 0 || r.To.Masked() != r.To {
			return nil, fmt.Errorf("rule %q: a destination is a number of whole bytes", r)
		}
		e = append(e, destination(r.To)...)
	}
	if r.Over != 0 {
		e = append(e, &expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1}, equal([]byte{byte(r.Over)}))
	}
	if r.Port != 0 {
		if r.Over == 0 {
			return nil, fmt.Errorf("rule %q: a port without a transport", r)
		}
		e = append(e, &expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2}, equal(port(r.Port)))
	}
	switch r.Do {
	case Accept:
		e = append(e, &expr.Verdict{Kind: expr.VerdictAccept})
	case Return:
		e = append(e, &expr.Verdict{Kind: expr.VerdictReturn})
	case ToPort:
		e = append(e, &expr.Immediate{Register: 1, Data: port(r.Redirect)}, &expr.Redir{RegisterProtoMin: 1})
	case Reset:
		e = append(e, &expr.Reject{Type: unix.NFT_REJECT_TCP_RST})
	case Prohibit:
		e = append(e, &expr.Reject{Type: unix.NFT_REJECT_ICMPX_UNREACH, Code: unix.NFT_REJECT_ICMPX_ADMIN_PROHIBITED})
	default:
		return nil, fmt.Errorf("rule %q: it has no verdict", r)
	}
	return e, nil
}

func equal(value []byte) *expr.Cmp {
	return &expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: value}
}

func port(p uint16) []byte { return binary.BigEndian.AppendUint16(nil, p) }

// destination matches the family and the address, of a prefix its first bytes.
func destination(to netip.Prefix) []expr.Any {
	family, offset := byte(unix.NFPROTO_IPV6), uint32(24)
	if to.Addr().Is4() {
		family, offset = unix.NFPROTO_IPV4, 16
	}
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyNFPROTO, Register: 1}, equal([]byte{family}),
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: offset, Len: uint32(to.Bits() / 8)},
		equal(to.Addr().AsSlice()[:to.Bits()/8]),
	}
}

// decode reads what the kernel holds back into a rule. It knows the
// expressions that encode makes and no other: anything else in a rule is an
// error, where the library's own reader would leave it out.
func decode(b []byte) (Rule, error) {
	e, err := readExpressions(b)
	if err != nil {
		return Rule{}, err
	}
	d := decoder{left: e}
	var r Rule
	for d.err == nil && len(d.left) > 0 {
		switch x := d.next().(type) {
		case *expr.Meta:
			d.meta(&r, *x)
		case *expr.Payload:
			d.port(&r, *x)
		case *expr.Immediate:
			d.redirect(&r, *x)
		default:
			r.Do = d.last(x)
		}
	}
	if d.err == nil && r.Do == 0 {
		d.err = errors.New("a rule without a verdict")
	}
	return r, d.err
}

// readExpressions takes the list of a rule's expressions apart.
func readExpressions(b []byte) ([]expr.Any, error) {
	list, err := readAttributes(b)
	if err != nil {
		return nil, err
	}
	var all []expr.Any
	for _, one := range list {
		parts, err := readAttributes(one.value)
		if err != nil {
			return nil, err
		}
		a := byKind(parts)
		x := known(a.text(unix.NFTA_EXPR_NAME), a[unix.NFTA_EXPR_DATA])
		if x == nil || one.kind != unix.NFTA_LIST_ELEM || len(parts) != 2 {
			return nil, fmt.Errorf("an expression that was not asked for: %q", a.text(unix.NFTA_EXPR_NAME))
		}
		if err := expr.Unmarshal(unix.NFPROTO_INET, a[unix.NFTA_EXPR_DATA], x); err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, nil
}

// known is an empty expression of the name, or nil. A verdict is an immediate
// value for register 0.
func known(name string, data []byte) expr.Any {
	switch name {
	case "meta":
		return &expr.Meta{}
	case "cmp":
		return &expr.Cmp{}
	case "payload":
		return &expr.Payload{}
	case "redir":
		return &expr.Redir{}
	case "reject":
		return &expr.Reject{}
	case "immediate":
		parts, err := readAttributes(data)
		if err == nil && byKind(parts).number(unix.NFTA_IMMEDIATE_DREG) == unix.NFT_REG_VERDICT {
			return &expr.Verdict{}
		}
		return &expr.Immediate{}
	}
	return nil
}

type decoder struct {
	left []expr.Any
	err  error
}

func (d *decoder) next() expr.Any {
	if len(d.left) == 0 {
		return nil
	}
	x := d.left[0]
	d.left = d.left[1:]
	return x
}

func (d *decoder) unknown(x expr.Any) {
	d.err = fmt.Errorf("an expression that was not asked for: %T %+v", x, x)
}

// value is what the next expression compares the register with.
func (d *decoder) value(size int) []byte {
	c, ok := d.next().(*expr.Cmp)
	if !ok || c.Op != expr.CmpOpEq || c.Register != 1 || len(c.Data) != size {
		d.unknown(c)
		return make([]byte, size)
	}
	return c.Data
}

func (d *decoder) meta(r *Rule, m expr.Meta) {
	switch {
	case m.Register != 1 || m.SourceRegister:
		d.unknown(&m)
	case m.Key == expr.MetaKeyIIF && !r.Looped:
		if r.Looped = binary.NativeEndian.Uint32(d.value(4)) == loopbackIndex; !r.Looped {
			d.unknown(&m)
		}
	case m.Key == expr.MetaKeyL4PROTO && r.Over == 0:
		if r.Over = Protocol(d.value(1)[0]); r.Over == 0 { // which would read as any
			d.unknown(&m)
		}
	case m.Key == expr.MetaKeyNFPROTO && !r.To.IsValid():
		d.to(r, d.value(1)[0])
	default:
		d.unknown(&m)
	}
}

func (d *decoder) to(r *Rule, family byte) {
	p, ok := d.next().(*expr.Payload)
	if !ok || p.DestRegister != 1 || p.Base != expr.PayloadBaseNetworkHeader {
		d.unknown(p)
		return
	}
	var whole [16]byte
	switch {
	case family == unix.NFPROTO_IPV4 && p.Offset == 16 && 1 <= p.Len && p.Len <= 4:
		copy(whole[:4], d.value(int(p.Len)))
		r.To = netip.PrefixFrom(netip.AddrFrom4([4]byte(whole[:4])), int(p.Len)*8)
	case family == unix.NFPROTO_IPV6 && p.Offset == 24 && 1 <= p.Len && p.Len <= 16:
		copy(whole[:], d.value(int(p.Len)))
		r.To = netip.PrefixFrom(netip.AddrFrom16(whole), int(p.Len)*8)
	default:
		d.unknown(p)
	}
}

func (d *decoder) port(r *Rule, p expr.Payload) {
	if r.Port != 0 || r.Over == 0 || p.DestRegister != 1 || p.Base != expr.PayloadBaseTransportHeader || p.Offset != 2 || p.Len != 2 {
		d.unknown(&p)
		return
	}
	if r.Port = binary.BigEndian.Uint16(d.value(2)); r.Port == 0 { // which would read as any
		d.unknown(&p)
	}
}

func (d *decoder) redirect(r *Rule, x expr.Immediate) {
	to, ok := d.next().(*expr.Redir)
	if !ok || len(d.left) > 0 || x.Register != 1 || len(x.Data) != 2 ||
		to.RegisterProtoMin != 1 || to.RegisterProtoMax > 1 {
		d.unknown(&x)
		return
	}
	r.Do, r.Redirect = ToPort, binary.BigEndian.Uint16(x.Data)
}

// last is a verdict, which ends a rule.
func (d *decoder) last(x expr.Any) Verdict {
	if len(d.left) == 0 {
		switch v := x.(type) {
		case *expr.Verdict:
			switch v.Kind {
			case expr.VerdictAccept:
				return Accept
			case expr.VerdictReturn:
				return Return
			}
		case *expr.Reject:
			switch {
			case v.Type == unix.NFT_REJECT_TCP_RST:
				return Reset
			case v.Type == unix.NFT_REJECT_ICMPX_UNREACH && v.Code == unix.NFT_REJECT_ICMPX_ADMIN_PROHIBITED:
				return Prohibit
			}
		}
	}
	d.unknown(x)
	return 0
}
