package proxy

import (
	"bufio"
	"bytes"
	"net"
	"net/http"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/hello"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// A Learned is what a call was used for: what a rule has to open for it.
type Learned struct {
	Host    string // in normal form
	Port    uint16
	Literal bool // an address, not a name
	// Spoke is TLS or HTTP where that was spoken, and for that host; else it is
	// AnyProtocol, as where nothing was said.
	Spoke judge.Protocol
}

// maxOverheard bounds what is kept of what a program says first.
const maxOverheard = hello.MaxBytes

// overheard is the program's connection in a tunnel whose first words are
// noted. It moves bytes more slowly than a bare one.
type overheard struct {
	net.Conn
	first []byte
}

func (o *overheard) Read(b []byte) (int, error) {
	n, err := o.Conn.Read(b)
	o.note(b[:n])
	return n, err
}

func (o *overheard) note(b []byte) {
	o.first = append(o.first, b[:min(len(b), maxOverheard-len(o.first))]...)
}

// CloseWrite and SetLinger are the connection's own: a tunnel asks for them.
func (o *overheard) CloseWrite() error {
	if half, ok := o.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return o.Conn.Close()
}

func (o *overheard) SetLinger(sec int) error {
	if tcp, ok := o.Conn.(interface{ SetLinger(int) error }); ok {
		return tcp.SetLinger(sec)
	}
	return nil
}

// learn tells what a call was used for, once it is over.
func (c *call) learn() {
	tell := c.proxy.config.Learned
	if tell == nil || c.by == judge.ByPort {
		return
	}
	l := Learned{Host: c.decision.Host, Port: c.decision.Port, Literal: c.decision.Literal}
	switch {
	case c.secure:
		l.Spoke = judge.TLS
	case c.by == judge.ByHTTP: // a websocket's tunnel too
		l.Spoke = judge.HTTP
	case c.heard != nil:
		l.Spoke = c.spoke(c.heard.first)
	}
	tell(l)
}

// spoke says what the first words are of.
func (c *call) spoke(first []byte) judge.Protocol {
	if said, err := hello.Parse(first); err == nil {
		name := said.ServerName
		// A rule of an address alone opens no TLS for a name.
		if c.decision.Literal && name != "" || c.proxy.checkServerName(c.by, c.decision, name) != nil {
			return judge.AnyProtocol
		}
		return judge.TLS
	}
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(first)))
	if err != nil || r.ProtoMajor != 1 {
		return judge.AnyProtocol
	}
	at, err := parseAuthority(r.Host, c.decision.Port)
	if err != nil || !sameHost(at.host, c.decision.Host) || at.port != c.decision.Port {
		return judge.AnyProtocol
	}
	return judge.HTTP
}
