package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy"
)

const (
	systemUpstream = "system"
	// scutilTime bounds the wait for macOS's network settings.
	scutilTime = 5 * time.Second
)

// hostProxies reads what this machine's owner has set for programs. It is read
// where a chain is made, and not where it runs: there the proxy variables are
// the sandbox's own.
func hostProxies() (proxy.SystemProxies, error) {
	var settings func() (string, error)
	if runtime.GOOS == "darwin" {
		settings = func() (string, error) {
			ctx, cancel := context.WithTimeout(context.Background(), scutilTime)
			defer cancel()
			out, err := exec.CommandContext(ctx, "/usr/sbin/scutil", "--proxy").Output()
			return string(out), err
		}
	}
	return proxy.ReadSystemProxies(os.Getenv, settings)
}

// fromSystem puts the proxies that are set in place of the word "system". They
// go into a file: there are several, and they may hold passwords.
func (f *proxyFlags) fromSystem(read func() (proxy.SystemProxies, error)) error {
	if f.Upstream != systemUpstream {
		return nil
	}
	const member = "/confinement/net/proxied/proxy/upstream: "
	if read == nil {
		return refuse(member + "system: which proxies are set was not read: this is a fault of lnk itself")
	}
	s, err := read()
	if err != nil {
		return refuse(member+"%v", err)
	}
	u, err := s.Upstream()
	if err != nil {
		return refuse(member+"%v", err)
	}
	if f.Upstream = u.String(); f.Upstream == systemUpstream {
		f.Upstream = s.Text()
		f.upstreamIn = filepath.Join(f.Settings, "sandbox", f.Name+".upstream")
	}
	return nil
}

// upstreamOf is the upstream that a text names. The word "system" comes here
// only where no chain was made first, to a blank proxy or one that was started
// by hand: their environment is its caller's own.
func upstreamOf(text string, read func() (proxy.SystemProxies, error)) (proxy.Upstream, error) {
	if text != systemUpstream {
		return proxy.ParseUpstream(text)
	}
	s, err := read()
	if err != nil {
		return proxy.Upstream{}, err
	}
	return s.Upstream()
}
