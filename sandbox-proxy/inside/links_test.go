package inside

import (
	"errors"
	"testing"
)

// The route of an address is read from the kernel's answer, and an answer of
// another kind is none.
func TestRouteOfAnAddress(t *testing.T) {
	route := func(table byte) []byte {
		body := make([]byte, routeInfo)
		body[4] = table
		return envelope(rtmNewRoute, 0, 1, concat(body, attribute(rtaDst, Own6.AsSlice()...)))
	}
	for _, c := range []struct {
		what   string
		answer []byte
		want   way
		err    error
	}{
		{"of its own", route(rtTableLocal), way{rtTableLocal, true}, nil},
		{"the default", route(rtTableMain), way{rtTableMain, true}, nil},
		{"none", envelope(nlmsgError, 0, 1, u32(^uint32(100))), way{0, true}, nil},
		{"a link", envelope(rtmNewLink, 0, 1, make([]byte, ifInfo)), way{}, errNetlink},
		{"short", envelope(rtmNewRoute, 0, 1, make([]byte, 4)), way{}, errNetlink},
	} {
		var got way
		if err := got.read(c.answer); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %+v, %v", c.what, got, err)
		}
	}
}
