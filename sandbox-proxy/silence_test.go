package proxy

import (
	"net/http"
	"testing"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// A model that thinks says nothing for minutes, and a download may take hours:
// no clock of the proxy's runs over an answer or a body, and a tunnel's allows
// an hour of silence.
func TestSilenceIsAllowed(t *testing.T) {
	j, err := judge.New(judge.Rules{}, judge.Machine())
	if err != nil {
		t.Fatal(err)
	}
	up, err := ParseUpstream("http://192.0.2.1:3128")
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(Config{Sandbox: "web", Judge: j, Upstream: up})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if s := &p.plain.server; s.ReadTimeout != 0 || s.WriteTimeout != 0 {
		t.Errorf("requests are read for %s and answered for %s", s.ReadTimeout, s.WriteTimeout)
	}
	for _, o := range []*http.Transport{p.origins.fresh.Transport} {
		if o.ResponseHeaderTimeout != 0 {
			t.Errorf("hosts have %s to answer", o.ResponseHeaderTimeout)
		}
	}
	for _, f := range []*http.Transport{p.forwardingKept, p.forwarding.fresh.Transport} {
		if f.ResponseHeaderTimeout != 0 {
			t.Errorf("the upstream has %s to answer", f.ResponseHeaderTimeout)
		}
	}
	if tunnelIdle < time.Hour {
		t.Errorf("a tunnel may be silent for %s", tunnelIdle)
	}
}
