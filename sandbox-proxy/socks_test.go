package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// socksCall is a CONNECT of SOCKS5: address type and address as given.
func socksCall(kind byte, address string, port int) string {
	if kind == 3 {
		address = string([]byte{byte(len(address))}) + address
	}
	return "\x05\x01\x00" + string([]byte{kind}) + address + string([]byte{byte(port >> 8), byte(port)})
}

// socks makes a call and gives the reply code.
func (l *lab) socks(call string) (byte, *client) {
	l.t.Helper()
	c := l.client().say("\x05\x01\x00")
	if got := c.read(2); got != "\x05\x00" {
		l.t.Fatalf("method %q", got)
	}
	c.say("%s", call)
	reply := c.read(10)
	return reply[1], c
}

func TestSOCKS(t *testing.T) {
	l := newLab(t, hosts("ok.test:7", "gone.test:7", "none.test:7"), tcp("10.1.2.3:7"))
	l.origin("ok.test", 7, echo)
	l.name("gone.test", "192.0.2.99")
	l.name("in.test", "10.1.2.3")
	code, c := l.socks(socksCall(3, "OK.test", 7))
	if code != 0 {
		t.Fatalf("reply %d", code)
	}
	c.say("%s", strings.Repeat("z", 1<<20))
	c.CloseWrite()
	if got, err := c.rest(); len(got) != 1<<20+3 || !strings.HasSuffix(got, "BYE") || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for name, want := range map[string]struct {
		call string
		code byte
	}{
		"not allowed":    {socksCall(3, "evil.test", 7), 2},
		"another port":   {socksCall(3, "ok.test", 22), 2},
		"NUL":            {socksCall(3, "evil.test\x00.ok.test", 7), 2},
		"NUL behind":     {socksCall(3, "ok.test\x00", 7), 2},
		"empty":          {socksCall(3, "", 7), 2},
		"too long":       {socksCall(3, strings.Repeat("a", 255), 7), 2},
		"port zero":      {socksCall(3, "ok.test", 0), 2},
		"brackets":       {socksCall(3, "[ok.test]", 7), 2},
		"port in name":   {socksCall(3, "ok.test:7", 7), 2},
		"short address":  {socksCall(3, "127.1", 7), 2},
		"full width":     {socksCall(3, "ｏk.test", 7), 2},
		"localhost":      {socksCall(3, "localhost", 7), 2},
		"loopback":       {socksCall(1, "\x7f\x00\x00\x01", 7), 2},
		"loopback6":      {socksCall(4, strings.Repeat("\x00", 15)+"\x01", 7), 2},
		"mapped":         {socksCall(4, strings.Repeat("\x00", 10)+"\xff\xff\x7f\x00\x00\x01", 7), 2},
		"metadata":       {socksCall(1, "\xa9\xfe\xa9\xfe", 7), 2},
		"unreachable":    {socksCall(3, "gone.test", 7), 4},
		"no address":     {socksCall(3, "none.test", 7), 4},
		"private closed": {socksCall(1, "\x0a\x01\x02\x04", 7), 2},
		"private gone":   {socksCall(1, "\x0a\x01\x02\x03", 7), 4}, // listed, and nobody there
		"bind":           {"\x05\x02\x00\x03\x07ok.test\x00\x07", 7},
		"bind elsewhere": {"\x05\x02\x00\x03\x09evil.test\x00\x07", 7},
		"udp":            {"\x05\x03\x00\x03\x07ok.test\x00\x07", 7},
		"unknown":        {"\x05\x09\x00\x03\x07ok.test\x00\x07", 7},
		"address type":   {"\x05\x01\x00\x02\x07ok.test\x00\x07", 8},
	} {
		if code, c := l.socks(want.call); code != want.code {
			t.Errorf("%s: reply %d, want %d", name, code, want.code)
		} else if rest, _ := c.rest(); rest != "" {
			t.Errorf("%s: then %q", name, rest)
		}
	}
	for _, name := range l.looked {
		if name != "ok.test" && name != "gone.test" && name != "none.test" {
			t.Errorf("%q was looked up", name)
		}
	}
	if code, _ := l.socks(socksCall(3, "ok.test", 7)); code != 0 {
		t.Errorf("afterwards: reply %d", code)
	}
}

// What is sent in one piece with the handshake belongs to the tunnel.
func TestSOCKSEarlyBytes(t *testing.T) {
	l := newLab(t, hosts("ok.test:7"))
	l.origin("ok.test", 7, echo)
	for _, early := range []string{"", "e", strings.Repeat("early", 20<<10)} {
		c := l.client()
		go io.WriteString(c, "\x05\x01\x00"+socksCall(3, "ok.test", 7)+early)
		if got := c.read(12); got[:4] != "\x05\x00\x05\x00" {
			t.Fatalf("%q", got)
		}
		if got := c.read(len(early)); got != early {
			t.Errorf("%d early bytes came back otherwise", len(early))
		}
		c.CloseWrite()
		if got, err := c.rest(); got != "BYE" || err != nil {
			t.Errorf("%q %v", got, err)
		}
	}
}

// The reply names no address of this machine.
func TestSOCKSReply(t *testing.T) {
	l := newLab(t, hosts("ok.test:7"))
	l.origin("ok.test", 7, echo)
	c := l.client().say("\x05\x02\x00\x02%s", socksCall(3, "ok.test", 7))
	if got := c.read(12); got != "\x05\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00" {
		t.Errorf("%q", got)
	}
}

// A far side that is not a TCP connection does not end the process.
func TestSOCKSOtherConn(t *testing.T) {
	l := newLab(t, hosts("ok.test:7"), with(func(_ *judge.Rules, c *proxy.Config) { c.Dial = dialPipe }))
	l.name("ok.test", "192.0.2.1")
	code, c := l.socks(socksCall(3, "ok.test", 7))
	if code != 0 {
		t.Fatalf("reply %d", code)
	}
	if got := c.say("ping").read(4); got != "ping" {
		t.Errorf("%q", got)
	}
}

func TestSOCKSPassword(t *testing.T) {
	l := newLab(t, hosts("ok.test:7"), with(func(_ *judge.Rules, c *proxy.Config) { c.Secret = "sesame" }))
	l.origin("ok.test", 7, echo)
	c := l.client().say("\x05\x01\x00")
	if got, _ := c.rest(); got != "\x05\xff" {
		t.Errorf("without a password: %q", got)
	}
	c = l.client().say("\x05\x02\x00\x02")
	if got := c.read(2); got != "\x05\x02" {
		t.Fatalf("%q", got)
	}
	if got, _ := c.say("\x01\x01u\x05wrong").rest(); got != "\x01\x01" {
		t.Errorf("a wrong password: %q", got)
	}
	c = l.client().say("\x05\x01\x02")
	c.read(2)
	c.say("\x01\x01u\x06sesame")
	if got := c.read(2); got != "\x01\x00" {
		t.Errorf("%q", got)
	}
	if got := c.say("%s", socksCall(3, "ok.test", 7)).read(10); got[1] != 0 {
		t.Errorf("%q", got)
	}
}

// Noise is closed, not answered. TLS and SOCKS4 are answered in their own words,
// and the owner is told.
func TestNoise(t *testing.T) {
	for first, want := range map[string]struct{ says, told string }{
		"\x00":                                 {},
		"\xff\xff":                             {},
		"123":                                  {},
		"\x16\x03\x01\x00\x05hello":            {"\x15\x03\x03\x00\x02\x02\x31", "env -u https_proxy"},
		"\x04\x01\x00\x07\x01\x01\x01\x01\x00": {"\x00\x5b\x00\x00\x00\x00\x00\x00", "socks5h://"},
	} {
		l := newLab(t, hosts("ok.test:7"))
		c := l.client().say("%s", first)
		if rest, _ := c.rest(); rest != want.says {
			t.Errorf("%q: %q, want %q", first, rest, want.says)
		}
		l.mu.Lock()
		if told := fmt.Sprint(l.refused); (len(l.refused) > 0) != (want.told != "") || !strings.Contains(told, want.told) {
			t.Errorf("%q: told %s", first, told)
		}
		l.mu.Unlock()
		if len(l.dials()) > 0 {
			t.Errorf("%q: dialled", first)
		}
	}
}

// half an end of a pipe: a connection with no address of TCP.
func dialPipe(context.Context, netip.AddrPort) (net.Conn, error) {
	a, b := net.Pipe()
	go func() {
		io.Copy(b, b)
		b.Close()
	}()
	return a, nil
}
