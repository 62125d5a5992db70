package proxy

import (
	"context"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// A Wire is what the owner says of this way out. The zero Wire is open; one
// that is stopped and paused is stopped.
type Wire struct {
	Stopped, Paused bool
	// Why is told with every refusal; it may be empty.
	Why string
}

// Stop cuts every call that is open, at once, and refuses new ones until
// [Proxy.Resume]. The listeners stay.
func (p *Proxy) Stop(why string) { p.say(Wire{Stopped: true, Why: why}) }

// Pause holds what is open as it is, moving nothing either way, and refuses
// new calls until [Proxy.Resume].
func (p *Proxy) Pause(why string) { p.say(Wire{Paused: true, Why: why}) }

// Resume goes on after a pause or a stop.
func (p *Proxy) Resume() { p.say(Wire{}) }

func (p *Proxy) say(w Wire) {
	p.wires.Lock()
	defer p.wires.Unlock()
	p.hold(w)
}

// CheckWire asks [Config.Wire] and does what it says. Whoever learns that it
// may say something else calls it: open calls are not asked for one by one.
func (p *Proxy) CheckWire() {
	if p.config.Wire == nil {
		return
	}
	if p.config.Wire() == p.wireNow() {
		return
	}
	// Read again where nobody else reads: of two that read, the later one must
	// have the last word, or a stop is undone by a look from before it.
	p.wires.Lock()
	defer p.wires.Unlock()
	if w := p.config.Wire(); w != p.wireNow() {
		p.hold(w)
	}
}

func (p *Proxy) wireNow() Wire {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wire
}

// hold holds the calls to what the owner says. p.wires is held.
func (p *Proxy) hold(w Wire) {
	p.mu.Lock()
	p.wire = w
	if w.Stopped {
		p.cutDials()
		p.dialing, p.cutDials = context.WithCancel(p.ctx)
	}
	p.mu.Unlock()
	switch {
	case w.Stopped:
		p.cutAll()
		p.closeIdle()
		p.valve.Open() // nothing is left that waits
	case w.Paused:
		p.valve.Shut()
	default:
		p.valve.Open()
	}
}

// dialContext ends with the proxy and with a stop, which also ends the calls
// that are only being connected.
func (p *Proxy) dialContext() context.Context {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dialing
}

func (p *Proxy) wireRefuses(by judge.By, d judge.Decision) *Refusal {
	p.CheckWire()
	w := p.wireNow()
	why := ""
	if w.Why != "" {
		why = ": " + judge.Shown(w.Why)
	}
	switch {
	case w.Stopped:
		return p.refuse(by, d, Stopped, "every wire is stopped"+why)
	case w.Paused:
		return p.refuse(by, d, Paused, "this sandbox's wire is paused"+why)
	}
	return nil
}
