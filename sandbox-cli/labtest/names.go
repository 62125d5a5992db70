package labtest

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/miekg/dns"
)

// addresses are what the world's resolver answers; a name under wild.test is
// the server, any other name is not there.
var addresses = map[string][]string{
	AllowedName: {ServerAddr},
	OtherName:   {OtherAddr},
	LANName:     {LANAddr},
	MixedName:   {ServerAddr, LANAddr},
}

// serveNames is the world's resolver. It notes every name it is asked.
func serveNames(state string) error {
	packets, err := net.ListenPacket("udp", net.JoinHostPort(resolverAddr, "53"))
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", net.JoinHostPort(resolverAddr, "53"))
	if err != nil {
		return err
	}
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		reply := new(dns.Msg).SetReply(q)
		for _, question := range q.Question {
			note(state, "queries", question.Name)
			name := strings.ToLower(strings.TrimSuffix(question.Name, "."))
			found, ok := addresses[name]
			if strings.HasSuffix(name, ".wild.test") {
				found, ok = []string{ServerAddr}, true
			}
			if !ok {
				reply.Rcode = dns.RcodeNameError
			}
			for _, a := range found {
				if question.Qtype == dns.TypeA {
					reply.Answer = append(reply.Answer, &dns.A{
						Hdr: dns.RR_Header{Name: question.Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 1},
						A:   net.ParseIP(a),
					})
				}
			}
		}
		w.WriteMsg(reply)
	})
	go dns.ActivateAndServe(nil, packets, handler)
	go dns.ActivateAndServe(l, nil, handler)
	return nil
}

var noting sync.Mutex

// note adds a line to one of the world's records.
func note(state, record, line string) {
	noting.Lock()
	defer noting.Unlock()
	f, err := os.OpenFile(filepath.Join(state, record), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	f.WriteString(line + "\n")
}
