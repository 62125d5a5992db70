package inside

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// decode reads what the kernel holds back into a rule. It knows the
// expressions that encode makes and no other: anything else in a rule is an
// error, where the library's own reader would leave it out.
func decode(b []byte) (rule, error) {
	e, err := readExpressions(b)
	if err != nil {
		return rule{}, err
	}
	d := decoder{left: e}
	var r rule
	for d.err == nil && len(d.left) > 0 {
		switch x := d.next().(type) {
		case *expr.Meta:
			d.meta(&r, *x)
		case *expr.Payload:
			d.port(&r, *x)
		case *expr.Immediate:
			d.redirect(&r, *x)
		case *expr.Log:
			d.told(&r, *x)
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
	case "bitwise":
		return &expr.Bitwise{}
	case "redir":
		return &expr.Redir{}
	case "reject":
		return &expr.Reject{}
	case "log":
		return &expr.Log{}
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

func (d *decoder) meta(r *rule, m expr.Meta) {
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

func (d *decoder) to(r *rule, family byte) {
	size, offset := 16, uint32(offset6)
	if family == unix.NFPROTO_IPV4 {
		size, offset = 4, offset4
	} else if family != unix.NFPROTO_IPV6 {
		d.err = fmt.Errorf("an expression that was not asked for: family %d", family)
		return
	}
	load, ok := d.next().(*expr.Payload)
	if !ok || load.DestRegister != 1 || load.Base != expr.PayloadBaseNetworkHeader || load.Offset != offset ||
		load.Len < 1 || int(load.Len) > size {
		d.unknown(load)
		return
	}
	bits := int(load.Len) * 8
	if len(d.left) > 0 {
		if mask, masked := d.left[0].(*expr.Bitwise); masked {
			d.next()
			if bits = maskBits(*mask, size); int(load.Len) != size || bits <= 0 || bits%8 == 0 {
				d.unknown(mask)
				return
			}
		}
	}
	whole := make([]byte, size)
	copy(whole, d.value(int(load.Len)))
	address, _ := netip.AddrFromSlice(whole)
	if r.To = netip.PrefixFrom(address, bits); r.To.Masked() != r.To {
		d.unknown(load) // it matches nothing
	}
}

// maskBits is how many bits a mask keeps, or -1 when it is no prefix's. A shift
// or a combination of registers has no mask and no value to exclude.
func maskBits(m expr.Bitwise, size int) int {
	if m.SourceRegister != 1 || m.DestRegister != 1 || int(m.Len) != size || len(m.Mask) != size || !slices.Equal(m.Xor, make([]byte, size)) {
		return -1
	}
	ones, of := net.IPMask(m.Mask).Size()
	if of == 0 {
		return -1
	}
	return ones
}

func (d *decoder) port(r *rule, p expr.Payload) {
	if r.Port != 0 || r.Over == 0 || p.DestRegister != 1 || p.Base != expr.PayloadBaseTransportHeader || p.Offset != 2 || p.Len != 2 {
		d.unknown(&p)
		return
	}
	if r.Port = binary.BigEndian.Uint16(d.value(2)); r.Port == 0 { // which would read as any
		d.unknown(&p)
	}
}

func (d *decoder) redirect(r *rule, x expr.Immediate) {
	to, ok := d.next().(*expr.Redir)
	if !ok || len(d.left) > 0 || x.Register != 1 || len(x.Data) != 2 ||
		to.RegisterProtoMin != 1 || to.RegisterProtoMax > 1 {
		d.unknown(&x)
		return
	}
	r.Do, r.Redirect = doRedirect, binary.BigEndian.Uint16(x.Data)
}

func (d *decoder) told(r *rule, x expr.Log) {
	if r.Told || x.Key != toldKey || x.Group != unnamedGroup || x.Snaplen != unnamedBytes || x.QThreshold != 1 {
		d.unknown(&x)
	}
	r.Told = true
}

// last is a verdict, which ends a rule.
func (d *decoder) last(x expr.Any) action {
	if len(d.left) == 0 {
		switch v := x.(type) {
		case *expr.Verdict:
			switch v.Kind {
			case expr.VerdictAccept:
				return doAccept
			case expr.VerdictReturn:
				return doReturn
			}
		case *expr.Reject:
			switch {
			case v.Type == unix.NFT_REJECT_TCP_RST:
				return doReset
			case v.Type == unix.NFT_REJECT_ICMPX_UNREACH && v.Code == unix.NFT_REJECT_ICMPX_ADMIN_PROHIBITED:
				return doProhibit
			}
		}
	}
	d.unknown(x)
	return 0
}
