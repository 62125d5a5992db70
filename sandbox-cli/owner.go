package cli

import (
	"sync"
	"time"

	"github.com/lnkhq/lnk-sandbox/measure-contract"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/journal"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes"
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
	log     *journal.Journal
}

// newOwner begins the sandbox's log; close ends it.
func newOwner(settings, sandbox string, say func(line string)) *owner {
	o := &owner{settings: client.SettingsFolder(settings), sandbox: sandbox, say: say}
	o.log = journal.Open(o.settings, sandbox, o.trouble)
	return o
}

// follow holds a proxy to the flags and publishes what it carries, until close.
func (o *owner) follow(p *proxy.Proxy, t *routes.Table) {
	o.log.Began()
	p.CheckWire()
	o.watch = wires.Watch(o.settings, p.CheckWire)
	o.publish = traffic.Publish(o.settings, o.sandbox, func() measure.Traffic { return carriedBy(p, t) }, o.trouble)
}

// carriedBy is what a proxy and its routes have counted.
func carriedBy(p *proxy.Proxy, t *routes.Table) (now measure.Traffic) {
	now.Up, now.Down = p.Carried()
	if used, counts := t.Tokens(); counts {
		now.Tokens = &used
	}
	return now
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

// noName notes that a name was refused that was only asked for.
func (o *owner) noName(d judge.Decision) {
	o.log.Record(proxy.Record{
		At: time.Now(), By: judge.ByDNS, Host: d.Host, Reason: d.Reason, Detail: d.Detail, Open: d.Open, Address: d.Refused,
	})
}

// close ends what follow began.
func (o *owner) close() {
	if o.watch != nil {
		o.watch.Close()
		o.publish.Close()
	}
	o.log.Close()
}
