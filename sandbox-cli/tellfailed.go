package cli

import (
	"os"
	"slices"
	"strings"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// ended tells what calls that came to nothing are of, beyond the call.
func (t *teller) ended(r proxy.Record) {
	if !t.on || r.Reason != proxy.Failed && r.Reason != judge.Unresolved {
		return
	}
	if t.direct {
		t.mayNeedProxy(r)
	} else if r.Allowed && strings.HasPrefix(r.Detail, proxy.UpstreamFailed) {
		t.ofUpstream(r)
	}
}

// maxUpstreamTold bounds how many kinds of an upstream's failures are told.
const maxUpstreamTold = 5

// ofUpstream tells what is wrong with the upstream, each kind once: all calls go
// by it, and to most programs one that fails is a connection that is closed.
func (t *teller) ofUpstream(r proxy.Record) {
	t.mu.Lock()
	told := slices.Contains(t.upstream, r.Detail) || len(t.upstream) >= maxUpstreamTold
	if !told {
		t.upstream = append(t.upstream, r.Detail)
	}
	t.mu.Unlock()
	if !told {
		t.say(proxy.Refusal{Host: r.Host, Port: r.Port}.Target() + " could not be reached: " + r.Detail)
	}
}

// mayNeedProxy tells, once, what a call that came to nothing most likely wants where
// the owner's own programs go by a proxy and the sandbox does not. It is asked
// of the environment that run was started in: the program's is another.
func (t *teller) mayNeedProxy(r proxy.Record) {
	if r.Address.IsValid() {
		return
	}
	t.mu.Lock()
	said := t.failed
	t.failed = true
	t.mu.Unlock()
	if said {
		return
	}
	if name := proxyNamed(os.Getenv); name != "" {
		t.say(r.Host + " could not be reached, and " + name + ` of your environment names a proxy: upstream = "system" in the [network] of a spec goes by it`)
	}
}

// proxyNamed is the variable by which an environment names a proxy, or empty.
func proxyNamed(get func(string) string) string {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		if strings.TrimSpace(get(name)) != "" {
			return name
		}
	}
	return ""
}
