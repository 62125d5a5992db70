package judge

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// server answers by kind; what has no answer is left without one.
func server(t *testing.T, answers map[uint16]func(*dns.Msg)) *net.Resolver {
	t.Helper()
	at, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &dns.Server{PacketConn: at, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		if f := answers[q.Question[0].Qtype]; f != nil {
			reply := new(dns.Msg).SetReply(q)
			f(reply)
			w.WriteMsg(reply)
		}
	})}
	go s.ActivateAndServe()
	t.Cleanup(func() { s.Shutdown() })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", at.LocalAddr().String())
	}}
}

func reply7(reply *dns.Msg) {
	name := reply.Question[0].Name
	h := dns.RR_Header{Name: name, Rrtype: reply.Question[0].Qtype, Class: dns.ClassINET}
	if h.Rrtype == dns.TypeA {
		reply.Answer = append(reply.Answer, &dns.A{Hdr: h, A: net.ParseIP("192.0.2.7")})
	} else {
		reply.Answer = append(reply.Answer, &dns.AAAA{Hdr: h, AAAA: net.ParseIP("2001:db8::7")})
	}
}

func code(n int) func(*dns.Msg) { return func(reply *dns.Msg) { reply.Rcode = n } }

// none is a whole answer, of a server that resolves.
func none(reply *dns.Msg) { reply.RecursionAvailable = true }

func TestLookupOfFamilies(t *testing.T) {
	for _, c := range []struct {
		what string
		a, b func(*dns.Msg)
		want string
	}{
		{"both", reply7, reply7, "2 addresses"},
		{"IPv4 alone", reply7, none, "1 addresses"},
		{"IPv6 alone", none, reply7, "1 addresses"},
		{"questions for IPv6 are dropped", reply7, nil, "1 addresses"},
		{"questions for IPv4 are dropped", nil, reply7, "1 addresses"},
		{"dropped, and none of the other", nil, none, "this machine's name servers did not answer in time"},
		{"all are dropped", nil, nil, "this machine's name servers did not answer in time"},
		{"IPv6 fails", reply7, code(dns.RcodeServerFailure), "1 addresses"},
		{"both fail", code(dns.RcodeServerFailure), code(dns.RcodeServerFailure), "this machine's name servers failed to answer"},
		{"both are refused", code(dns.RcodeRefused), code(dns.RcodeRefused), "this machine's name servers failed to answer"},
		{"no such name", code(dns.RcodeNameError), code(dns.RcodeNameError), "no address is known for it"},
		{"no address", none, none, "no address is known for it"},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			r := server(t, map[uint16]func(*dns.Msg){dns.TypeA: c.a, dns.TypeAAAA: c.b})
			ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
			defer cancel()
			addrs, err := lookupBy(ctx, r, "a.example.", 100*time.Millisecond)
			got := fmt.Sprintf("%d addresses", len(addrs))
			if err != nil {
				got = unresolved(err)
			}
			if got != c.want {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
	nobody, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := nobody.LocalAddr().String()
	nobody.Close()
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", at)
	}}
	if _, err := lookupBy(t.Context(), r, "a.example.", time.Minute); unresolved(err) != "this machine's name servers failed to answer" {
		t.Errorf("a name server that is not there: %s (%v)", unresolved(err), err)
	}
	if got := unresolved(&net.DNSError{UnwrapErr: context.Canceled}); got != "this machine's name servers had not answered when the call ended" {
		t.Errorf("a call that was given up: %s", got)
	}
	if got := unresolved(errors.New("other")); got != "no address is known for it" {
		t.Errorf("another error: %s", got)
	}
}

// The families take turns, and keep their own order.
func TestAlternate(t *testing.T) {
	for given, want := range map[string]string{
		"":                        "",
		"192.0.2.1 192.0.2.2":     "192.0.2.1 192.0.2.2",
		"2001:db8::1 2001:db8::2": "2001:db8::1 2001:db8::2",
		"2001:db8::1 2001:db8::2 2001:db8::3 192.0.2.1":      "2001:db8::1 192.0.2.1 2001:db8::2 2001:db8::3",
		"192.0.2.1 2001:db8::1 2001:db8::2 ::ffff:192.0.2.2": "192.0.2.1 2001:db8::1 192.0.2.2 2001:db8::2",
	} {
		var in, out []string
		var addrs []netip.Addr
		for _, a := range strings.Fields(given) {
			in = append(in, a)
			addrs = append(addrs, netip.MustParseAddr(a))
		}
		for _, a := range Alternate(addrs) {
			out = append(out, a.String())
		}
		if got := strings.Join(out, " "); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
