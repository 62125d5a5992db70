package inside

import (
	"bytes"
	"slices"
	"testing"
)

// The address of IPv6 is asked for with a route of its own, as soon as it is there:
// the kernel's comes later, on a busy machine behind the program's first call.
func TestTheAddressHasARoute(t *testing.T) {
	all := linkRequests()
	adds := func(kind uint16) func(request) bool {
		return func(r request) bool { return r.kind == kind && bytes.Contains(r.body, Own6.AsSlice()) }
	}
	address, route := slices.IndexFunc(all, adds(rtmNewAddr)), slices.IndexFunc(all, adds(rtmNewRoute))
	if address < 0 || route < address {
		t.Fatalf("address at %d, route at %d", address, route)
	}
	if r := all[route]; r.body[1] != 128 || r.body[4] != rtTableLocal || r.body[7] != routeLocal || !r.ipv6 {
		t.Errorf("the route is % x", r.body)
	}
}
