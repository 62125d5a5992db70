package inside

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"syscall"
)

// rtnetlink(7) as far as it is spoken here, from linux/rtnetlink.h, if_addr.h
// and if_link.h.
const (
	rtmNewLink  = 16
	rtmGetLink  = 18
	rtmNewAddr  = 20
	rtmNewRoute = 24

	iffUp       = 0x1
	iffLoopback = 0x8
	ifInfo      = 16 // sizeof(struct ifinfomsg)

	afInet  = 2
	afInet6 = 10

	ifaAddress = 1
	ifaLocal   = 2
	ifaNoDAD   = 0x02

	rtaDst        = 1
	rtaOif        = 4
	rtTableMain   = 254
	rtTableLocal  = 255
	rtprotStatic  = 4
	scopeUniverse = 0
	scopeLink     = 253
	routeUnicast  = 1
	routeLocal    = 2

	loopbackIndex = 1 // the first interface of every namespace (net/core/dev.c)
)

// linkRequests bring loopback up and give it addresses and default routes, in
// this order.
//
// The addresses are there so that a connection to any other address has a
// source that is not 127.0.0.1; without the routes connect(2) would fail with
// ENETUNREACH before a rule saw it. The IPv6 route is of type local, since most
// kernels take any other over loopback for one that rejects (fib6_nh_init in
// net/ipv6/route.c; 6.18.44 no longer does).
//
// The kernel gives an address of IPv6 its own route on a queue of work
// (addrconf_dad_work in net/ipv6/addrconf.c), a moment or, on a busy machine,
// tenths of a second behind its answer. Until then a first connection failed with
// ENETUNREACH, or had no answer and was tried again after a second: so the route
// is added here too, and the kernel's stands beside it.
func linkRequests() []request {
	loopback := u32(loopbackIndex)
	up := concat([]byte{0, 0, 0, 0}, loopback, u32(iffUp), u32(iffUp))
	address := func(family, bits, flags byte, a netip.Addr) []byte {
		return concat([]byte{family, bits, flags, scopeUniverse}, loopback,
			attribute(ifaLocal, a.AsSlice()...), attribute(ifaAddress, a.AsSlice()...))
	}
	route := func(family, scope, kind byte) []byte {
		return concat([]byte{family, 0, 0, 0, rtTableMain, rtprotStatic, scope, kind}, u32(0),
			attribute(rtaOif, loopback...))
	}
	return []request{
		{what: "bring loopback up", kind: rtmNewLink, body: up},
		{what: "add address " + Own4.String(), kind: rtmNewAddr, flag: nlmCreate | nlmExcl,
			body: address(afInet, 32, 0, Own4)},
		{what: "add the default route of IPv4", kind: rtmNewRoute, flag: nlmCreate | nlmExcl,
			body: route(afInet, scopeLink, routeUnicast)},
		{what: "add address " + Own6.String(), ipv6: true, kind: rtmNewAddr, flag: nlmCreate | nlmExcl,
			body: address(afInet6, 128, ifaNoDAD, Own6)},
		{what: "add the default route of IPv6", ipv6: true, kind: rtmNewRoute, flag: nlmCreate | nlmExcl,
			body: route(afInet6, scopeUniverse, routeLocal)},
		{what: "add the route to " + Own6.String(), ipv6: true, kind: rtmNewRoute, flag: nlmCreate | nlmExcl,
			body: concat([]byte{afInet6, 128, 0, 0, rtTableLocal, rtprotStatic, scopeUniverse, routeLocal}, u32(0),
				attribute(rtaDst, Own6.AsSlice()...), attribute(rtaOif, loopback...))},
	}
}

func u32(v uint32) []byte { return binary.NativeEndian.AppendUint32(nil, v) }

// listLinks asks for every interface.
func listLinks() []byte {
	return envelope(rtmGetLink, nlmRequest|nlmDump, 1, make([]byte, ifInfo))
}

// linksDone says whether all went well, and whether there is IPv6. The first
// request of IPv6 decides that: EOPNOTSUPP and EAFNOSUPPORT are a kernel
// without it or told so at boot (ipv6.disable=1), EACCES is
// net.ipv6.conf.*.disable_ipv6, and then what follows of IPv6 does not matter.
func linksDone(a answers) (ipv6 bool, err error) {
	ipv6 = true
	for i, r := range a.of {
		switch no := a.said[i]; {
		case no == 0:
		case r.ipv6 && (!ipv6 || no == syscall.EOPNOTSUPP || no == syscall.EAFNOSUPPORT || no == syscall.EACCES):
			ipv6 = false
		default:
			return false, failed(StepLinks, r.what, no)
		}
	}
	return ipv6, nil
}

var errNotFresh = errors.New("this network is in use and not a new one of the sandbox's own")

// fresh refuses every namespace but one just made, with loopback alone and
// that down: in another, the default routes and the rules would cut off
// whoever uses it.
func fresh(links []reply) error {
	if len(links) == 1 {
		index := binary.NativeEndian.Uint32(links[0].body[4:])
		flags := binary.NativeEndian.Uint32(links[0].body[8:])
		if index == loopbackIndex && flags&iffLoopback != 0 && flags&iffUp == 0 {
			return nil
		}
	}
	return &StepError{Step: StepNamespace, Err: errNotFresh, Hint: "this stage is started by lnk sandbox, not by hand"}
}
