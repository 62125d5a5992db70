package judge

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// A System is what a judge asks of the machine.
type System struct {
	// Lookup gives the addresses of a name in normal form.
	Lookup func(ctx context.Context, name string) ([]netip.Addr, error)
	// Interfaces gives the machine's own addresses, each with the length of
	// the network it is in. It is asked on every call.
	Interfaces func() ([]netip.Prefix, error)
}

// interfacesAge bounds how old the list of the machine's addresses may be.
const interfacesAge = time.Second

// Machine is this machine. Names are resolved by Go's own resolver: the C
// library's reads 127.1 and 0x7f.1 as addresses.
func Machine() System {
	var own interfaces
	return System{Lookup: lookup, Interfaces: own.get}
}

var resolver = &net.Resolver{PreferGo: true}

func lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	if strings.Contains(name, ".") {
		name += "." // whole: not also under the machine's search domains
	}
	return lookupBy(ctx, resolver, name, familyTime)
}

// familyTime is how long both families of a name's addresses are waited for.
const familyTime = 2 * time.Second

// lookupBy asks for both families together. There are name servers that leave
// questions for IPv6 unanswered: the wait for them would be longer than a call
// may take. So past patience each is asked for by itself, and the first that
// has an answer will do. What it leaves out is not dialled either.
func lookupBy(ctx context.Context, r *net.Resolver, name string, patience time.Duration) ([]netip.Addr, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		addrs []netip.Addr
		err   error
		whole bool // of both families
	}
	results := make(chan result, 3)
	ask := func(network string) {
		addrs, err := r.LookupNetIP(ctx, network, name)
		results <- result{addrs, err, network == "ip"}
	}
	go ask("ip")
	slow := time.NewTimer(patience)
	defer slow.Stop()
	for asked, answered := 1, 0; ; {
		select {
		case <-slow.C:
			go ask("ip4")
			go ask("ip6")
			asked += 2
		case got := <-results:
			answered++
			// That one family has none says nothing of the other.
			if got.whole || got.err == nil || answered == asked {
				return got.addrs, got.err
			}
		}
	}
}

// Alternate gives addresses in the order in which they are tried: as they are,
// but each of the other family than the one before it for as long as there are
// both (RFC 8305 section 4). A family whose every address is dead then costs one
// wait, and leaves the other its places among those that are tried.
func Alternate(addrs []netip.Addr) []netip.Addr {
	var first, other []netip.Addr // of the family that comes first, and of the other
	for _, a := range addrs {
		a = a.Unmap()
		if len(first) == 0 || a.Is4() == first[0].Is4() {
			first = append(first, a)
		} else {
			other = append(other, a)
		}
	}
	both := min(len(first), len(other))
	all := make([]netip.Addr, 0, len(addrs))
	for i := range both {
		all = append(all, first[i], other[i])
	}
	return slices.Concat(all, first[both:], other[both:])
}

// unresolved says why a name has no address here.
func unresolved(err error) string {
	var e *net.DNSError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &e) && e.IsTimeout:
		return "this machine's name servers did not answer in time"
	case errors.Is(err, context.Canceled):
		return "this machine's name servers had not answered when the call ended"
	case e != nil && !e.IsNotFound: // SERVFAIL, REFUSED, nothing that listens there, no route to it
		return "this machine's name servers failed to answer"
	}
	return "no address is known for it"
}

// interfaces remembers the machine's addresses for interfacesAge.
type interfaces struct {
	mu   sync.Mutex
	read time.Time
	all  []netip.Prefix
}

func (i *interfaces) get() ([]netip.Prefix, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.all != nil && time.Since(i.read) < interfacesAge {
		return i.all, nil
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	all := make([]netip.Prefix, 0, len(addrs))
	for _, a := range addrs {
		n, ok := a.(*net.IPNet)
		if !ok {
			continue
		}
		ip, ok := netip.AddrFromSlice(n.IP)
		if !ok {
			continue
		}
		ones, size := n.Mask.Size()
		ip = ip.Unmap()
		if size != ip.BitLen() {
			ones = ip.BitLen()
		}
		all = append(all, netip.PrefixFrom(ip, ones))
	}
	i.all, i.read = all, time.Now()
	return all, nil
}
