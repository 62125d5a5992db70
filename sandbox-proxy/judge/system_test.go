package judge

import (
	"context"
	"errors"
	"fmt"
	"net"
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

func none(*dns.Msg) {}

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
	if got := unresolved(&net.DNSError{UnwrapErr: context.Canceled}); got != "this machine's name servers had not answered when the call ended" {
		t.Errorf("a call that was given up: %s", got)
	}
	if got := unresolved(errors.New("other")); got != "no address is known for it" {
		t.Errorf("another error: %s", got)
	}
}
