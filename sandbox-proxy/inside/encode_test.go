//go:build linux

package inside

import (
	"net/netip"
	"testing"

	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// Every rule that can be said is read back as it was.
func TestRulesAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r rule
		r.Looped = rapid.Bool().Draw(t, "looped")
		switch rapid.IntRange(0, 2).Draw(t, "family") {
		case 1:
			a := netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "to")))
			r.To = netip.PrefixFrom(a, rapid.IntRange(1, 32).Draw(t, "bits")).Masked()
		case 2:
			a := netip.AddrFrom16([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "to")))
			r.To = netip.PrefixFrom(a, rapid.IntRange(1, 128).Draw(t, "bits")).Masked()
		}
		if r.Over = Protocol(rapid.Byte().Draw(t, "over")); r.Over != 0 {
			r.Port = rapid.Uint16().Draw(t, "port")
		}
		r.Told = rapid.Bool().Draw(t, "told")
		if r.Do = action(rapid.IntRange(int(doAccept), int(doProhibit)).Draw(t, "do")); r.Do == doRedirect {
			r.Redirect = rapid.Uint16().Draw(t, "redirect")
		}
		b, err := encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decode(b); err != nil || got != r {
			t.Errorf("%v became %v, %v", r, got, err)
		}
	})
}

func TestRulesThatCannotBeSaid(t *testing.T) {
	for what, r := range map[string]rule{
		"no verdict": {}, "an unknown verdict": {Do: doProhibit + 1}, "a port of nothing": {Port: 5, Do: doAccept},
		"an address in a block": {To: netip.MustParsePrefix("10.1.0.0/9"), Do: doAccept}, "every address": {To: netip.MustParsePrefix("0.0.0.0/0"), Do: doAccept},
	} {
		if b, err := encode(r); err == nil {
			t.Errorf("%s: %x", what, b)
		}
	}
}

func toldOf(group uint16, size uint32, threshold uint16) *expr.Log {
	return &expr.Log{Key: toldKey, Group: group, Snaplen: size, QThreshold: threshold}
}

// An expression that was not asked for is never overlooked.
func TestDecodeRefusesWhatItDoesNotKnow(t *testing.T) {
	accept := &expr.Verdict{Kind: expr.VerdictAccept}
	cmp := func(b ...byte) *expr.Cmp { return &expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: b} }
	masked := func(mask ...byte) []expr.Any {
		return []expr.Any{&expr.Meta{Key: expr.MetaKeyNFPROTO, Register: 1}, cmp(unix.NFPROTO_IPV4),
			&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: 16, Len: 4},
			&expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: 4, Mask: mask, Xor: make([]byte, 4)}, cmp(1, 2, 3, 4), accept}
	}
	for what, e := range map[string][]expr.Any{
		"nothing":                       {},
		"no verdict":                    {&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1}, cmp(6)},
		"a counter":                     {&expr.Counter{}, accept},
		"a verdict twice":               {accept, accept},
		"what is told twice":            {toldOf(1, 128, 1), toldOf(1, 128, 1), accept},
		"what is told to others":        {toldOf(2, 128, 1), accept},
		"all of it told":                {toldOf(1, 1500, 1), accept},
		"told late":                     {toldOf(1, 128, 2), accept},
		"told to the kernel's log":      {&expr.Log{Key: 1 << unix.NFTA_LOG_LEVEL, Level: 4}, accept},
		"told and no more":              {toldOf(1, 128, 1)},
		"a drop":                        {&expr.Verdict{Kind: expr.VerdictDrop}},
		"a jump":                        {&expr.Verdict{Kind: expr.VerdictJump, Chain: "x"}},
		"a comparison alone":            {cmp(1), accept},
		"a match without value":         {&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1}, accept},
		"transport 0, which is not any": {&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1}, cmp(0), accept},
		"port 0, which is not any":      {&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1}, cmp(6), &expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2}, cmp(0, 0), accept},
		"a port of any transport":       {&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2}, cmp(0, 53), accept},
		"unequal":                       {&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1}, &expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: []byte{6}}, accept},
		"another register":              {&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 2}, cmp(6), accept},
		"another key":                   {&expr.Meta{Key: expr.MetaKeyMARK, Register: 1}, cmp(0, 0, 0, 1), accept},
		"another interface":             {&expr.Meta{Key: expr.MetaKeyIIF, Register: 1}, cmp(2, 0, 0, 0), accept},
		"a source port":                 {&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 0, Len: 2}, cmp(0, 1), accept},
		"a source address":              {&expr.Meta{Key: expr.MetaKeyNFPROTO, Register: 1}, cmp(unix.NFPROTO_IPV4), &expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: 12, Len: 4}, cmp(1, 2, 3, 4), accept},
		"a mask with a hole":            masked(0xff, 0, 0xff, 0),
		"a mask of nothing":             masked(0, 0, 0, 0),
		"a mask of everything":          masked(0xff, 0xff, 0xff, 0xff),
		"a mask that cuts a value":      masked(0xf0, 0, 0, 0),
		"an address without value":      {&expr.Meta{Key: expr.MetaKeyNFPROTO, Register: 1}, cmp(unix.NFPROTO_IPV4), accept},
		"another redirect":              {&expr.Immediate{Register: 1, Data: []byte{0, 53}}, &expr.Redir{RegisterProtoMin: 2}},
		"a redirect to a range":         {&expr.Immediate{Register: 1, Data: []byte{0, 53}}, &expr.Redir{RegisterProtoMin: 1, RegisterProtoMax: 2}},
		"a redirect and more":           {&expr.Immediate{Register: 1, Data: []byte{0, 53}}, &expr.Redir{RegisterProtoMin: 1}, accept},
		"another refusal":               {&expr.Reject{Type: unix.NFT_REJECT_ICMPX_UNREACH, Code: unix.NFT_REJECT_ICMPX_NO_ROUTE}},
	} {
		var b []byte
		for _, x := range e {
			one, err := expr.Marshal(unix.NFPROTO_INET, x)
			if err != nil {
				t.Fatal(err)
			}
			b = append(b, attribute(nested|unix.NFTA_LIST_ELEM, one...)...)
		}
		if r, err := decode(b); err == nil {
			t.Errorf("%s: %v", what, r)
		}
	}
}

// Whatever is read as a rule is that rule.
func FuzzDecode(f *testing.F) {
	for _, c := range theRules().Chains {
		for _, r := range c.Rules {
			b, err := encode(r)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decode(b)
		if err != nil {
			return
		}
		again, err := encode(r)
		if err != nil {
			t.Fatalf("%v: %v", r, err)
		}
		if got, err := decode(again); err != nil || got != r {
			t.Errorf("%v became %v, %v", r, got, err)
		}
	})
}
