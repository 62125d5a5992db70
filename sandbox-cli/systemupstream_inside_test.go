package cli

import (
	"errors"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy"
)

// The word "system" is what is set where the proxy runs, and never nothing for
// want of a look.
func TestUpstreamOf(t *testing.T) {
	set := func() (proxy.SystemProxies, error) { return proxy.SystemProxies{HTTPS: "p.test:1"}, nil }
	none := func() (proxy.SystemProxies, error) { return proxy.SystemProxies{}, nil }
	fails := func() (proxy.SystemProxies, error) { return proxy.SystemProxies{}, errors.New("no") }
	for _, c := range []struct {
		text string
		read func() (proxy.SystemProxies, error)
		want string
	}{
		{"direct", fails, "direct"}, {"http://p.test:1", fails, "http://p.test:1"}, {"system", set, "system"}, {"system", none, "direct"}, {"system", fails, ""},
	} {
		u, err := upstreamOf(c.text, c.read)
		if (err != nil) != (c.want == "") || err == nil && u.String() != c.want {
			t.Errorf("%s: %v, %v", c.text, u, err)
		}
	}
	var f proxyFlags
	f.Upstream = "system"
	if err := f.fromSystem(nil); err == nil {
		t.Error("nobody looked, and it is something")
	}
}
