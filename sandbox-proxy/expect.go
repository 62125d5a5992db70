package proxy

import (
	"errors"
	"time"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/hello"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// accessDenied is a TLS alert (RFC 8446 section 6): fatal, access_denied. It
// tells a client that is sent away after its hello why.
var accessDenied = []byte{21, 3, 3, 0, 2, 2, 49}

// readHello reads what the program says first at a host's port 443, and
// leaves it unread. It must be TLS, and a server name that is sent must be the
// host: else the rule would let through what it does not name. A program that
// says nothing, as one that connects ahead of need does, is not refused; its
// connection is of no use anymore either, and ok is false.
func (p *Proxy) readHello(g *gate, by judge.By, d judge.Decision) (first hello.Hello, ok bool, r *Refusal) {
	g.SetReadDeadline(time.Now().Add(helloTime))
	defer g.SetReadDeadline(time.Time{})
	for {
		said := g.buf[g.r:g.w]
		if len(said) > 0 {
			var err error
			first, err = hello.Parse(said)
			switch {
			case err == nil:
				r := p.checkServerName(by, d, first.ServerName)
				return first, r == nil, r
			case err != hello.ErrShort:
				return first, false, p.refuseProtocol(by, d, "what was said is "+err.Error()+": at 443 hosts opens TLS only", errors.Is(err, hello.ErrNotTLS))
			case len(said) > hello.MaxBytes:
				return first, false, p.refuseProtocol(by, d, "a TLS ClientHello longer than 16 KiB", false)
			}
		}
		if err := g.fill(); err != nil {
			if len(said) == 0 {
				return first, false, nil
			}
			return first, false, p.refuseProtocol(by, d, "no whole TLS ClientHello came: at 443 hosts opens TLS only", true)
		}
	}
}

func (p *Proxy) checkServerName(by judge.By, d judge.Decision, name string) *Refusal {
	if name == "" {
		return nil
	}
	said := p.config.Judge.Rule(judge.Call{By: by, Host: name, Port: d.Port})
	if said.Reason != judge.Malformed {
		if said.Host == d.Host {
			return nil
		}
		// Of a host that is named by its address, the name it was looked up
		// by is not known here: it must be one that the rules name.
		if d.Literal && !said.Literal && said.Allowed {
			return nil
		}
	}
	r := p.refuseProtocol(by, d, "the TLS server name is "+judge.Shown(name)+", which is not the host that was asked for", false)
	if d.Literal && !said.Literal {
		r.Open = said.Open // named too, it would be the address' name
	}
	return r
}

// A watchedHello is a tunnel whose program may say hello once more: see
// [hello.Again].
type watchedHello struct {
	again   hello.Again
	call    *call
	refused *Refusal
}

func (p *Proxy) watchHello(c *call, first hello.Hello) *watchedHello {
	w := &watchedHello{call: c}
	w.again.First = first
	w.again.Check = func(name string) bool {
		w.refused = p.checkServerName(c.by, c.decision, name)
		return w.refused == nil
	}
	return w
}

func (w *watchedHello) watch(b []byte) (bool, error) {
	more, err := w.again.Read(b)
	if err != nil {
		if p := w.call.proxy; w.refused == nil {
			w.refused = p.refuseProtocol(w.call.by, w.call.decision, "a second hello is "+err.Error(), false)
		}
		w.call.proxy.tell(w.refused)
	}
	return more, err
}

// why is why the call ended, once it has.
func (w *watchedHello) why() (judge.Reason, string) {
	if w == nil || w.refused == nil {
		return "", ""
	}
	return w.refused.Reason, w.refused.Detail
}

// refuseProtocol refuses what is said on a call that was let through.
func (p *Proxy) refuseProtocol(by judge.By, d judge.Decision, detail string, openable bool) *Refusal {
	r := p.refuse(by, d, Protocol, detail)
	if openable {
		r.Open = judge.OpenTCP(d)
	}
	return r
}
