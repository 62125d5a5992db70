package proxy

import "github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"

// wire is what the owner has said of this way out.
type wire struct {
	stopped, paused bool
	why             string
}

// Stop cuts every call that is open, at once, and refuses new ones until
// [Proxy.Resume]. The listeners stay.
func (p *Proxy) Stop(why string) {
	p.mu.Lock()
	p.wire = wire{stopped: true, why: why}
	p.mu.Unlock()
	p.cutAll()
	p.closeIdle()
	p.valve.Open() // nothing is left that waits
}

// Pause holds what is open as it is, moving nothing either way, and refuses
// new calls until [Proxy.Resume].
func (p *Proxy) Pause(why string) {
	p.mu.Lock()
	p.wire = wire{paused: true, why: why}
	p.mu.Unlock()
	p.valve.Shut()
}

// Resume goes on after a pause or a stop.
func (p *Proxy) Resume() {
	p.mu.Lock()
	p.wire = wire{}
	p.mu.Unlock()
	p.valve.Open()
}

func (p *Proxy) wireRefuses(by judge.By, d judge.Decision) *Refusal {
	p.mu.Lock()
	w := p.wire
	p.mu.Unlock()
	why := ""
	if w.why != "" {
		why = ": " + judge.Shown(w.why)
	}
	switch {
	case w.stopped:
		return p.refuse(by, d, Stopped, "every wire is stopped"+why)
	case w.paused:
		return p.refuse(by, d, Paused, "this sandbox's wire is paused"+why)
	}
	return nil
}
