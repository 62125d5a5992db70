package proxy

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// FuzzConnectTarget: a target that is taken is a host, a colon and a port and
// nothing else, in the one spelling that they have, and the Host is the same.
func FuzzConnectTarget(f *testing.F) {
	for _, s := range [][2]string{
		{"ok.test:443", "ok.test:443"}, {"ok.test:443", "ok.test"}, {"[::1]:80", "[::1]:80"}, {"ok.test:0443", "ok.test"}, {"a.test:443/x@b", "a.test"},
		{"u:p@a.test:443", "a.test"}, {":443", ""}, {"a:", "a"}, {"a:99999", "a"}, {"a.test:443?q", "a.test"}, {"[ok.test]:443", "ok.test"}, {"ok.test:443", "OK.test."}, {"[]:8", "[::1]:80"},
	} {
		f.Add(s[0], s[1], true)
	}
	f.Fuzz(func(t *testing.T, target, host string, hosted bool) {
		to, wrong := connectTarget(&head{method: http.MethodConnect, target: target, host: host, hosted: hosted})
		if wrong != nil {
			return
		}
		if to.port == 0 || to.host == "" || to.host+":"+strconv.Itoa(int(to.port)) != target {
			t.Fatalf("%q is taken as %q at %d", target, to.host, to.port)
		}
		// What else is no host is the judge's to say.
		if strings.HasPrefix(to.host, "[") && !strings.HasSuffix(to.host, "]") || !strings.HasPrefix(to.host, "[") && strings.Contains(to.host, ":") {
			t.Fatalf("%q is taken with the host %q", target, to.host)
		}
		if !hosted {
			return
		}
		if named, err := parseAuthority(host, to.port); err == nil && proxyItself(named.host) {
			return // the proxy's own address names nowhere else
		}
		name := strings.TrimSuffix(host, ":"+strconv.Itoa(int(to.port)))
		if !strings.EqualFold(strings.TrimSuffix(name, "."), strings.TrimSuffix(to.host, ".")) {
			t.Fatalf("%q is taken with the Host %q", target, host)
		}
	})
}
