package proxy

import (
	"cmp"
	"context"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// The reasons that a judge does not know.
const (
	Rate      judge.Reason = "rate"      // too many calls a minute
	Self      judge.Reason = "self"      // the proxy's own listener
	Busy      judge.Reason = "busy"      // too many calls at once
	Stopped   judge.Reason = "stopped"   // every wire is stopped
	Paused    judge.Reason = "paused"    // this wire is paused
	Protocol  judge.Reason = "protocol"  // not what the rule is for is spoken
	Forbidden judge.Reason = "forbidden" // the proxy's password is wrong or missing
	// Unreadable is an answer that may not be passed on as it is: of a route.
	Unreadable judge.Reason = "unreadable"
	// Declined is a visit that its route would not do: see [Outcome].
	Declined judge.Reason = "declined"
	// Failed is no refusal: the call was let through and the far side could
	// not be reached. It stands in records only.
	Failed judge.Reason = "failed"
)

// A Refusal is a call that was not let through, and why.
type Refusal struct {
	_ [0]func()

	Sandbox string
	By      judge.By
	// Host is in normal form; of a malformed call it is what was sent,
	// escaped.
	Host string
	// Port is zero where none was read.
	Port   uint16
	Reason judge.Reason
	// Detail says why, for people.
	Detail string
	// Open is what would let it through, where anything would.
	Open judge.Open
	// Address is the address that refused it, where one did. The program is
	// not told it.
	Address netip.Addr

	retry time.Duration // when to try again
}

// Target is host:port, or the host alone where no port was read. Of a datagram
// "udp" stands in front: a connection to there is told of by itself.
func (r Refusal) Target() string {
	target := r.Host
	if r.Port != 0 {
		target += ":" + strconv.Itoa(int(r.Port))
	}
	if r.By == judge.ByUDP {
		target = "udp " + target
	}
	return target
}

// Error is the refusal in one line, as the program gets it.
func (r Refusal) Error() string {
	line := "lnk sandbox " + r.Sandbox + ": refused"
	if t := r.Target(); t != "" {
		line += " " + t
	}
	line += ": " + r.Detail
	if open := r.Open.String(); open != "" {
		line += "; to open it: " + open
	}
	return line
}

func (p *Proxy) refusal(by judge.By, d judge.Decision) *Refusal {
	return &Refusal{
		Sandbox: p.config.Sandbox, By: by, Host: d.Host, Port: d.Port,
		Reason: d.Reason, Detail: d.Detail, Open: d.Open, Address: d.Refused,
	}
}

// refuse makes a refusal of the proxy's own.
func (p *Proxy) refuse(by judge.By, d judge.Decision, why judge.Reason, detail string) *Refusal {
	d.Reason, d.Detail, d.Open = why, detail, judge.Open{}
	return p.refusal(by, d)
}

// withoutSecrets is the part of a target that no reader could take for other
// than its host: what a refusal is told, shown and logged with. The target may
// have been refused for what else it holds: a user and password, a path with a
// route's secret, a query.
func withoutSecrets(target string) string {
	scheme, rest, ok := strings.Cut(target, "://")
	if !ok {
		scheme, rest = "", target
	}
	if i := strings.IndexAny(rest, `/\?#`); i >= 0 {
		rest = rest[:i]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	if ok {
		return withoutSecrets(scheme) + "://" + rest
	}
	return rest
}

// A told remembers what was told of.
type told struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (t *told) first(what string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen[what] || len(t.seen) >= maxTold {
		return false
	}
	if t.seen == nil {
		t.seen = map[string]bool{}
	}
	t.seen[what] = true
	return true
}

// tell tells of a refusal.
func (p *Proxy) tell(r *Refusal) {
	p.show(r)
	p.record(r)
}

// record has a refusal stand in the log.
func (p *Proxy) record(r *Refusal) {
	if p.config.Ended == nil {
		return
	}
	record := Record{
		At: time.Now(), By: r.By, Host: r.Host, Port: r.Port,
		Reason: r.Reason, Detail: r.Detail, Address: r.Address, Open: r.Open,
	}
	if r.By == judge.ByRoute && r.Port == 0 {
		record.Route, record.Host = r.Host, ""
	}
	p.config.Ended(record)
}

// show tells the owner of a refusal, once for a host and port; where none was
// named, once for what was wrong.
func (p *Proxy) show(r *Refusal) {
	if p.config.Refused != nil && p.told.first(cmp.Or(r.Target(), r.Detail)) {
		p.config.Refused(*r)
	}
}

// A Record is a call that is over.
type Record struct {
	_ [0]func()

	At time.Time // when it was decided
	By judge.By
	// Route is the route that was called, "tool/gh"; Host and Port are then
	// where it went, if to a host.
	Route   string
	Host    string
	Port    uint16
	Allowed bool
	// Reason and Detail say why not, or why an allowed call failed.
	// An allowed call that is Stopped was open when every wire was.
	Reason judge.Reason
	Detail string
	// Open is what would let a refused call through, where anything would.
	Open judge.Open
	// Outcome is how what a route did ended, in a few words of the route's own.
	Outcome string
	// Address is the address that refused it, or the far side's.
	Address netip.Addr
	// Up and Down are the bytes from the program and to it.
	Up, Down uint64
	// Took is how long it was open.
	Took time.Duration
}

// cut says of a call that was let through that a stop ended it: open is the
// context that a stop ends, from before the call began.
func (r *Record) cut(p *Proxy, open context.Context) {
	if r.Allowed && (r.Reason == "" || r.Reason == Failed) && open.Err() != nil && p.ctx.Err() == nil {
		r.Reason, r.Detail = Stopped, "cut off: every wire was stopped"
	}
}
