package proxy_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// An address of a name that has several: what dialling it does.
type dials func(ctx context.Context) (net.Conn, error)

func silent(ctx context.Context) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// raced makes a lab with a name whose addresses, 192.0.2.1 and on, do so.
func raced(t *testing.T, all ...dials) *lab {
	l := newLab(t, hosts("many.test:7"), with(func(_ *judge.Rules, c *proxy.Config) {
		c.Dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			return all[to.Addr().As4()[3]-1](ctx)
		}
	}))
	for i := range all {
		l.names["many.test"] = append(l.names["many.test"], netip.AddrFrom4([4]byte{192, 0, 2, byte(i + 1)}))
	}
	return l
}

// answers gives one end of a connection and says on the other who it is.
func answers(t *testing.T, who string) (net.Conn, net.Conn) {
	ln := listen(t)
	defer ln.Close()
	a, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Error(err)
		return nil, nil
	}
	b, err := ln.Accept()
	if err != nil {
		t.Error(err)
		return nil, nil
	}
	t.Cleanup(func() { b.Close() })
	io.WriteString(b, who)
	return a, b
}

// Whatever the others do, the address that answers is the one that is used;
// what is still being tried then ends.
func TestRace(t *testing.T) {
	answer := func(context.Context) (net.Conn, error) { a, _ := answers(t, "me"); return a, nil }
	refuse := func(context.Context) (net.Conn, error) { return nil, errors.New("refused") }
	late := func(say func() (net.Conn, error)) (dials, dials) {
		begun := make(chan struct{})
		return func(context.Context) (net.Conn, error) { <-begun; return say() },
			func(ctx context.Context) (net.Conn, error) { close(begun); return silent(ctx) }
	}
	lateAnswer, begins := late(func() (net.Conn, error) { return answer(nil) })
	lateRefusal, begins2 := late(func() (net.Conn, error) { return refuse(nil) })
	for name, all := range map[string][]dials{
		"the first":                          {answer, silent},
		"the second of a silent one":         {silent, answer},
		"the third of two that refuse":       {refuse, refuse, answer},
		"the third of two that are silent":   {silent, silent, answer},
		"the first, once another is tried":   {lateAnswer, begins},
		"the third, when the first is late":  {lateRefusal, begins2, answer},
		"the second of a silent and refused": {silent, refuse, answer},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := raced(t, all...).connect("many.test:7").read(2); got != "me" {
				t.Errorf("%q", got)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		resp, _ := raced(t, refuse, refuse, refuse).ask("CONNECT many.test:7 HTTP/1.1\r\n\r\n")
		if resp.StatusCode != 502 {
			t.Errorf("%d", resp.StatusCode)
		}
	})
}

// Of two that answer, one is closed, whichever comes late.
func TestRaceCloses(t *testing.T) {
	second := make(chan struct{})
	other := make(chan net.Conn, 2)
	both := func(wait, say chan struct{}) dials {
		return func(context.Context) (net.Conn, error) {
			if wait != nil {
				<-wait
			}
			a, b := answers(t, "me")
			other <- b
			if say != nil {
				close(say)
			}
			return a, nil
		}
	}
	l := raced(t, both(second, nil), both(nil, second))
	c := l.connect("many.test:7")
	c.read(2)
	l.proxy.Close()
	for range 2 {
		b := <-other
		b.SetDeadline(time.Now().Add(patience))
		if _, err := io.ReadAll(b); err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, syscall.ECONNRESET) {
			t.Error(err)
		}
	}
}
