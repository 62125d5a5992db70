package cli

import (
	"sync"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/traffic"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/wires"
)

// An owner is what a person steers and sees of one sandbox's proxy: the flags
// that stop or pause it, what it has carried, and what it decided. What cannot
// be written is said once and holds no call up; what cannot be read is a stop.
type owner struct {
	settings client.SettingsFolder
	sandbox  string
	say      func(line string)

	mu   sync.Mutex
	said bool

	watch   *wires.Watcher
	publish *traffic.Publisher
}

func newOwner(settings, sandbox string, say func(line string)) *owner {
	return &owner{settings: client.SettingsFolder(settings), sandbox: sandbox, say: say}
}

// wire is the proxy's Config.Wire.
func (o *owner) wire() proxy.Wire { return wires.Of(o.settings, o.sandbox) }

// follow holds a proxy to the flags and publishes what it carries, until close.
func (o *owner) follow(p *proxy.Proxy) {
	p.CheckWire()
	o.watch = wires.Watch(o.settings, p.CheckWire)
	o.publish = traffic.Publish(o.settings, o.sandbox, p.Carried, o.trouble)
}

// trouble says once that something cannot be kept.
func (o *owner) trouble(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.said {
		o.said = true
		o.say("what it does cannot be written down, calls go on: " + err.Error())
	}
}

// close ends what follow began.
func (o *owner) close() {
	if o.watch != nil {
		o.watch.Close()
		o.publish.Close()
	}
}
