package inside

import (
	"net"
	"testing"
)

// counted says how often it was closed.
type counted struct {
	net.Listener
	net.PacketConn
	closed int
}

func (c *counted) Close() error              { c.closed++; return nil }
func (c *counted) Accept() (net.Conn, error) { return nil, net.ErrClosed }
func (c *counted) Addr() net.Addr            { return nil }

func TestCloseClosesEveryListener(t *testing.T) {
	var l Listeners
	var all []*counted
	for _, as := range listeners(Want{ProxyPort: 3128, Ports: []uint16{80, 443}}, true) {
		c := &counted{}
		all = append(all, c)
		if as.packets() {
			l.add(as, nil, c)
		} else {
			l.add(as, c, nil)
		}
	}
	if len(l.Proxy) != 2 || len(l.Transparent) != 2 || len(l.DNSPackets) != 2 || len(l.DNSStreams) != 2 || len(l.Ports[80]) != 2 || len(l.Ports[443]) != 2 {
		t.Errorf("they are filed as %+v", l)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	for i, c := range all {
		if c.closed != 1 {
			t.Errorf("listener %d was closed %d times", i, c.closed)
		}
	}
}
