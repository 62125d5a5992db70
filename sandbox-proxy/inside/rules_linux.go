package inside

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	nftables   = unix.NFNL_SUBSYS_NFTABLES << 8
	nfGenHead  = 4 // sizeof(struct nfgenmsg)
	chainDrop  = 0 // NF_DROP
	chainKept  = 1 // NF_ACCEPT
	anyFamily  = unix.NFPROTO_UNSPEC
	inetFamily = unix.NFPROTO_INET
)

var hooks = map[string]uint32{
	"input":   unix.NF_INET_LOCAL_IN,
	"forward": unix.NF_INET_FORWARD,
	"output":  unix.NF_INET_LOCAL_OUT,
}

// install puts the rule set in as one transaction: all of it or nothing. The
// namespace is new, so there is no table to replace; the table is made
// exclusively, and another one would show in readBack.
func install(in source, want ruleSet) error {
	batch, err := ruleRequests(want)
	if err != nil {
		return failed(StepRules, "", err)
	}
	k, err := in.netlink(unix.NETLINK_NETFILTER)
	if err != nil {
		if errors.Is(err, unix.EPROTONOSUPPORT) {
			return failed(StepRules, "", errNoNftables)
		}
		return failed(StepRules, "open nftables", err)
	}
	defer k.close()
	got := answers{of: batch}
	if err := k.exchange(batchOf(batch), got.read, &got.done); err != nil {
		return failed(StepRules, "install", err)
	}
	return rulesDone(got)
}

// batchOf is a transaction of requests (linux/netfilter/nfnetlink.h).
func batchOf(all []request) []byte {
	of := generic(anyFamily, unix.NFNL_SUBSYS_NFTABLES)
	return concat(
		envelope(unix.NFNL_MSG_BATCH_BEGIN, nlmRequest, 0, of),
		marshal(all),
		envelope(unix.NFNL_MSG_BATCH_END, nlmRequest, uint32(len(all)+1), of))
}

var errNoNftables = errors.New("this kernel has no nftables (it needs CONFIG_NF_TABLES_INET, CONFIG_NFT_REDIR, CONFIG_NFT_REJECT)")

func rulesDone(a answers) error {
	for i, r := range a.of {
		if no := a.said[i]; no != 0 {
			return failed(StepRules, r.what, lacking(no))
		}
	}
	if a.all != 0 {
		return failed(StepRules, "install", lacking(a.all))
	}
	return nil
}

// lacking explains what nftables says when a part of it is not there: EOPNOTSUPP
// for the subsystem, ENOENT for a kind of chain or expression.
func lacking(no syscall.Errno) error {
	if no == syscall.EOPNOTSUPP || no == syscall.ENOENT {
		return fmt.Errorf("%w: %w", errNoNftables, no)
	}
	return no
}

// ruleRequests make the table, its chains and their rules, in this order.
func ruleRequests(want ruleSet) ([]request, error) {
	table := attribute(unix.NFTA_TABLE_NAME, text(want.Table)...)
	all := []request{{what: "table " + want.Table, kind: nftables | unix.NFT_MSG_NEWTABLE, flag: nlmCreate | nlmExcl,
		body: concat(generic(inetFamily, 0), table)}}
	for _, c := range want.Chains {
		hook, known := hooks[c.Hook]
		if !known {
			return nil, fmt.Errorf("chain %s: no hook is named %q", c.Name, c.Hook)
		}
		policy := uint32(chainDrop)
		if c.Accept {
			policy = chainKept
		}
		all = append(all, request{what: "chain " + c.Name, kind: nftables | unix.NFT_MSG_NEWCHAIN, flag: nlmCreate | nlmExcl,
			body: concat(generic(inetFamily, 0),
				attribute(unix.NFTA_CHAIN_TABLE, text(want.Table)...),
				attribute(unix.NFTA_CHAIN_NAME, text(c.Name)...),
				attribute(nested|unix.NFTA_CHAIN_HOOK, concat(
					attribute(unix.NFTA_HOOK_HOOKNUM, be32(hook)...),
					attribute(unix.NFTA_HOOK_PRIORITY, be32(uint32(c.Priority))...))...),
				attribute(unix.NFTA_CHAIN_POLICY, be32(policy)...),
				attribute(unix.NFTA_CHAIN_TYPE, text(c.Kind)...))})
		for _, r := range c.Rules {
			expressions, err := encode(r)
			if err != nil {
				return nil, fmt.Errorf("chain %s: %w", c.Name, err)
			}
			all = append(all, request{what: "rule " + r.String(), kind: nftables | unix.NFT_MSG_NEWRULE, flag: nlmCreate | nlmAppend,
				body: concat(generic(inetFamily, 0),
					attribute(unix.NFTA_RULE_TABLE, text(want.Table)...),
					attribute(unix.NFTA_RULE_CHAIN, text(c.Name)...),
					attribute(nested|unix.NFTA_RULE_EXPRESSIONS, expressions...))})
		}
	}
	return all, nil
}

// generic is a struct nfgenmsg: a family, version 0, and a resource in network order.
func generic(family byte, resource uint16) []byte {
	return binary.BigEndian.AppendUint16([]byte{family, 0}, resource)
}

func text(s string) []byte { return append([]byte(s), 0) }

func be32(v uint32) []byte { return binary.BigEndian.AppendUint32(nil, v) }

// readBack asks the kernel what it holds, in every family, and refuses
// anything but want.
func readBack(in source, want ruleSet) error {
	k, err := in.netlink(unix.NETLINK_NETFILTER)
	if err != nil {
		return failed(StepReadBack, "open nftables", err)
	}
	defer k.close()
	var got [3][]reply
	for i, what := range []struct{ get, made uint16 }{
		{unix.NFT_MSG_GETTABLE, unix.NFT_MSG_NEWTABLE},
		{unix.NFT_MSG_GETCHAIN, unix.NFT_MSG_NEWCHAIN},
		{unix.NFT_MSG_GETRULE, unix.NFT_MSG_NEWRULE},
	} {
		d := dump{kind: nftables | what.made, head: nfGenHead}
		packet := envelope(nftables|what.get, nlmRequest|nlmDump, 1, generic(anyFamily, 0))
		if err := k.list(packet, &d); err != nil {
			return failed(StepReadBack, "list", err)
		}
		got[i] = d.got
	}
	there, err := readRules(got[0], got[1], got[2])
	if err != nil {
		return failed(StepReadBack, "", err)
	}
	return failed(StepReadBack, "", same(want, there))
}

// readRules makes a rule set of what the kernel lists.
func readRules(tables, chains, rules []reply) (ruleSet, error) {
	if len(tables) != 1 {
		return ruleSet{}, fmt.Errorf("%w: %d tables", ErrMismatch, len(tables))
	}
	t, err := inetAttributes(tables[0])
	if err != nil {
		return ruleSet{}, err
	}
	r := ruleSet{Table: t.text(unix.NFTA_TABLE_NAME)}
	if flags := t.number(unix.NFTA_TABLE_FLAGS); flags != 0 {
		return ruleSet{}, fmt.Errorf("%w: table %s has flags %#x", ErrMismatch, r.Table, flags)
	}
	for _, m := range chains {
		c, err := readChain(m, r.Table)
		if err != nil {
			return ruleSet{}, err
		}
		r.Chains = append(r.Chains, c)
	}
	for _, m := range rules {
		a, err := inetAttributes(m)
		if err != nil {
			return ruleSet{}, err
		}
		name := a.text(unix.NFTA_RULE_CHAIN)
		i := slices.IndexFunc(r.Chains, func(c chain) bool { return c.Name == name })
		if i < 0 || a.text(unix.NFTA_RULE_TABLE) != r.Table {
			return ruleSet{}, fmt.Errorf("%w: a rule of chain %s", ErrMismatch, name)
		}
		rule, err := decode(a[unix.NFTA_RULE_EXPRESSIONS])
		if err != nil {
			return ruleSet{}, fmt.Errorf("%w: chain %s: %w", ErrMismatch, name, err)
		}
		r.Chains[i].Rules = append(r.Chains[i].Rules, rule)
	}
	return r, nil
}

func readChain(m reply, table string) (chain, error) {
	a, err := inetAttributes(m)
	if err != nil {
		return chain{}, err
	}
	c := chain{Name: a.text(unix.NFTA_CHAIN_NAME), Kind: a.text(unix.NFTA_CHAIN_TYPE)}
	all, err := readAttributes(a[unix.NFTA_CHAIN_HOOK])
	if err != nil {
		return chain{}, err
	}
	at := byKind(all)
	if len(at) == 0 || a.text(unix.NFTA_CHAIN_TABLE) != table {
		return chain{}, fmt.Errorf("%w: chain %s is at no hook or of another table", ErrMismatch, c.Name)
	}
	for name, hook := range hooks {
		if at.number(unix.NFTA_HOOK_HOOKNUM) == hook {
			c.Hook = name
		}
	}
	c.Priority = int32(at.number(unix.NFTA_HOOK_PRIORITY))
	c.Accept = a.number(unix.NFTA_CHAIN_POLICY) == chainKept
	return c, nil
}

// attributes are a message's, by kind.
type attributes map[uint16][]byte

func byKind(all []attr) attributes {
	m := attributes{}
	for _, a := range all {
		m[a.kind] = a.value
	}
	return m
}

func inetAttributes(m reply) (attributes, error) {
	if m.body[0] != inetFamily {
		return nil, fmt.Errorf("%w: something of family %d", ErrMismatch, m.body[0])
	}
	all, err := readAttributes(m.body[nfGenHead:])
	return byKind(all), err
}

func (a attributes) text(kind uint16) string {
	b := a[kind]
	if len(b) == 0 {
		return ""
	}
	return string(b[:len(b)-1])
}

func (a attributes) number(kind uint16) uint32 {
	if len(a[kind]) != 4 {
		return 0
	}
	return binary.BigEndian.Uint32(a[kind])
}

// same compares the chains, in any order, and the rules of each, in theirs.
func same(want, got ruleSet) error {
	if got.Table != want.Table {
		return fmt.Errorf("%w: table %s", ErrMismatch, got.Table)
	}
	if len(want.Chains) != len(got.Chains) {
		return fmt.Errorf("%w: %d chains and not %d", ErrMismatch, len(got.Chains), len(want.Chains))
	}
	for _, w := range want.Chains {
		i := slices.IndexFunc(got.Chains, func(g chain) bool { return g.Name == w.Name })
		if i < 0 {
			return fmt.Errorf("%w: chain %s is missing", ErrMismatch, w.Name)
		}
		g := got.Chains[i]
		if g.Kind != w.Kind || g.Hook != w.Hook || g.Priority != w.Priority || g.Accept != w.Accept {
			return fmt.Errorf("%w: chain %s is another", ErrMismatch, w.Name)
		}
		if !slices.Equal(g.Rules, w.Rules) {
			return fmt.Errorf("%w: chain %s has other rules", ErrMismatch, w.Name)
		}
	}
	return nil
}
