package cli

import (
	"os"
	"strings"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// ended tells, once, what a call that came to nothing most likely wants where
// the owner's own programs go by a proxy and the sandbox does not. It is asked
// of the environment that run was started in: the program's is another.
func (t *teller) ended(r proxy.Record) {
	if !t.on || !t.direct || r.Reason != proxy.Failed && r.Reason != judge.Unresolved || r.Address.IsValid() {
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
