package judge

import (
	"context"
	"net"
	"net/netip"
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
	return resolver.LookupNetIP(ctx, "ip", name)
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
