//go:build linux

package inside

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"
)

// probe is the program: each word is one try, and prints one line.
//
//	tcp:ADDRESS        what the other side says
//	udp:ADDRESS        whether a packet is refused
//	dns:NET:ADDRESS:NAME:TYPE
//	socket:KIND        raw, packet, ping: whether such a socket can be made
//	change:WHAT        whether the network can be changed
//	status             the capabilities of this process
//	wait               until standard input ends
func probe(args []string) error {
	for _, arg := range args {
		what, rest, _ := strings.Cut(arg, ":")
		fmt.Println(map[string]func(string) string{
			"tcp": probeTCP, "udp": probeUDP, "dns": probeDNS, "socket": probeSocket, "change": probeChange,
			"status": probeStatus,
			"bind":   probeBind, "env": func(string) string { return strings.Join(os.Environ(), " ") },
			"wait": func(string) string { io.Copy(io.Discard, os.Stdin); return "waited" },
		}[what](rest))
	}
	return nil
}

// reason is an error's errno by its name, or "timeout".
func reason(err error) string {
	var no syscall.Errno
	var e net.Error
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &no):
		return unix.ErrnoName(no)
	case errors.As(err, &e) && e.Timeout():
		return "timeout"
	}
	return err.Error()
}

func probeTCP(to string) string {
	c, err := net.DialTimeout("tcp", to, hang/2)
	if err != nil {
		return reason(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(hang / 2))
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return reason(err)
	}
	return strings.TrimSpace(line)
}

// probeUDP sends and waits for an answer. Two seconds is what a resolver or a
// browser would wait before it tried another way.
func probeUDP(to string) string {
	c, err := net.Dial("udp", to)
	if err != nil {
		return reason(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(2 * time.Second))
	if _, err := c.Write([]byte("hello")); err != nil {
		return reason(err)
	}
	n, err := c.Read(make([]byte, 100))
	return fmt.Sprintf("%d bytes, %s", n, reason(err))
}

func probeDNS(rest string) string {
	p := strings.Split(rest, ",")
	m := new(dns.Msg)
	m.SetQuestion(p[2], dns.StringToType[p[3]])
	c := dns.Client{Net: p[0], Timeout: hang / 2}
	r, _, err := c.Exchange(m, p[1])
	if err != nil {
		return reason(err)
	}
	out := []string{dns.RcodeToString[r.Rcode]}
	for _, rr := range r.Answer {
		out = append(out, strings.TrimPrefix(rr.String(), rr.Header().String()))
	}
	return strings.Join(out, " ")
}

func probeSocket(kind string) string {
	how := map[string][3]int{
		"raw4": {unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP}, "raw6": {unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6},
		"packet": {unix.AF_PACKET, unix.SOCK_RAW, 0x0300}, "ping4": {unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP},
		"ping6": {unix.AF_INET6, unix.SOCK_DGRAM, unix.IPPROTO_ICMPV6},
	}[kind]
	fd, err := unix.Socket(how[0], how[1], how[2])
	if err == nil {
		unix.Close(fd)
	}
	return reason(err)
}

func probeBind(at string) string {
	l, err := net.Listen("tcp", at)
	if err == nil {
		l.Close()
	}
	return reason(err)
}

// probeChange tries to change the network as it is, from this process.
func probeChange(what string) string {
	lo := u32(loopbackIndex)
	routing := map[string]request{
		"down":    {kind: rtmNewLink, body: concat([]byte{0, 0, 0, 0}, lo, u32(0), u32(iffUp))},
		"address": {kind: rtmNewAddr, flag: nlmCreate, body: concat([]byte{afInet, 32, 0, 0}, lo, attribute(ifaLocal, 10, 9, 9, 9), attribute(ifaAddress, 10, 9, 9, 9))},
		"noroute": {kind: unix.RTM_DELROUTE, body: concat([]byte{afInet, 0, 0, 0, rtTableMain, 0, scopeLink, routeUnicast}, u32(0), attribute(rtaOif, lo...))},
		"dummy": {kind: rtmNewLink, flag: nlmCreate | nlmExcl, body: concat(make([]byte, ifInfo), attribute(unix.IFLA_IFNAME, text("dummy7")...),
			attribute(nested|unix.IFLA_LINKINFO, attribute(unix.IFLA_INFO_KIND, []byte("veth")...)...))},
	}
	if r, ok := routing[what]; ok {
		k, err := ours{}.netlink(unix.NETLINK_ROUTE)
		if err != nil {
			return reason(err)
		}
		defer k.close()
		a := answers{of: []request{r}}
		if err := k.exchange(marshal(a.of), a.read, &a.done); err != nil {
			return reason(err)
		}
		return reason2(a.said[0])
	}
	switch what {
	case "table": // take the rules away
		return probeNFT(request{kind: nftables | unix.NFT_MSG_DELTABLE, body: concat(generic(inetFamily, 0), attribute(unix.NFTA_TABLE_NAME, text("lnk")...))})
	case "list": // see them
		return reason(readBack(ours{}, theRules()))
	case "port": // take ports below 1024 away from who may bind them
		return reason(os.WriteFile("/proc/sys/net/ipv4/ip_unprivileged_port_start", []byte("0"), 0))
	case "join": // a network namespace that one owns oneself
		return reason(unix.Unshare(unix.CLONE_NEWNET))
	}
	return "no such change"
}

func reason2(no syscall.Errno) string {
	if no == 0 {
		return "ok"
	}
	return reason(no)
}

func probeNFT(r request) string {
	k, err := ours{}.netlink(unix.NETLINK_NETFILTER)
	if err != nil {
		return reason(err)
	}
	defer k.close()
	a := answers{of: []request{r}}
	if err := k.exchange(batchOf(a.of), a.read, &a.done); err != nil {
		return reason(err)
	}
	if a.all != 0 {
		return reason(a.all)
	}
	return reason2(a.said[0])
}

func probeStatus(string) string {
	b, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		return reason(err)
	}
	return capabilities(string(b))
}

// capabilities are the sets in a status file of proc(5).
func capabilities(status string) string {
	var out []string
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		if slices.Contains([]string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs"}, name) {
			out = append(out, name+"="+strings.TrimSpace(value))
		}
	}
	return strings.Join(out, " ")
}
