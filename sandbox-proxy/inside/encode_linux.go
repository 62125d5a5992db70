package inside

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"

	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// encode turns a rule into the kernel's expressions, in the same order and the
// same way as nft(8) does, so that nft lists them as testdata/rules.nft has them.
func encode(r rule) ([]byte, error) {
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

func expressions(r rule) ([]expr.Any, error) {
	var e []expr.Any
	if r.Looped {
		e = append(e, &expr.Meta{Key: expr.MetaKeyIIF, Register: 1}, equal(binary.NativeEndian.AppendUint32(nil, loopbackIndex)))
	}
	if r.To.IsValid() {
		if r.To.Bits() == 0 || r.To.Masked() != r.To {
			return nil, fmt.Errorf("rule %q: its destination is no block of addresses", r)
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
	if r.Told {
		e = append(e, &expr.Log{Key: toldKey, Group: unnamedGroup, Snaplen: unnamedBytes, QThreshold: 1})
	}
	switch r.Do {
	case doAccept:
		e = append(e, &expr.Verdict{Kind: expr.VerdictAccept})
	case doReturn:
		e = append(e, &expr.Verdict{Kind: expr.VerdictReturn})
	case doRedirect:
		e = append(e, &expr.Immediate{Register: 1, Data: port(r.Redirect)}, &expr.Redir{RegisterProtoMin: 1})
	case doReset:
		e = append(e, &expr.Reject{Type: unix.NFT_REJECT_TCP_RST})
	case doProhibit:
		e = append(e, &expr.Reject{Type: unix.NFT_REJECT_ICMPX_UNREACH, Code: unix.NFT_REJECT_ICMPX_ADMIN_PROHIBITED})
	default:
		return nil, fmt.Errorf("rule %q: it has no verdict", r)
	}
	return e, nil
}

// toldKey says which of a log expression's fields are set.
const toldKey = 1<<unix.NFTA_LOG_GROUP | 1<<unix.NFTA_LOG_SNAPLEN | 1<<unix.NFTA_LOG_QTHRESHOLD

func equal(value []byte) *expr.Cmp {
	return &expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: value}
}

func port(p uint16) []byte { return binary.BigEndian.AppendUint16(nil, p) }

// destination matches the family and the address: a prefix that ends with a
// byte by its first bytes, any other by the whole address under a mask.
func destination(to netip.Prefix) []expr.Any {
	address := to.Addr().AsSlice()
	family, offset := byte(unix.NFPROTO_IPV6), uint32(offset6)
	if to.Addr().Is4() {
		family, offset = unix.NFPROTO_IPV4, offset4
	}
	e := []expr.Any{&expr.Meta{Key: expr.MetaKeyNFPROTO, Register: 1}, equal([]byte{family})}
	load := &expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: offset}
	if to.Bits()%8 == 0 {
		load.Len = uint32(to.Bits() / 8)
		return append(e, load, equal(address[:load.Len]))
	}
	load.Len = uint32(len(address))
	return append(e, load, &expr.Bitwise{
		SourceRegister: 1, DestRegister: 1, Len: load.Len, Mask: net.CIDRMask(to.Bits(), 8*len(address)), Xor: make([]byte, len(address)),
	}, equal(address))
}
