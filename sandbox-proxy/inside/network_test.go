//go:build linux

package inside

import (
	"fmt"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// expect runs probes in a box and holds each line against what it should be.
// A wish that ends in * is a prefix.
//
// Where the role plays the stage in the network, it is the same with the one
// that hands the network's sockets out.
func expect(t *testing.T, role string, want Want, wishes [][2]string) *box {
	t.Helper()
	if other, has := map[string]string{"stage": "hand", "stage-4": "hand-4"}[role]; has {
		t.Run(other, func(t *testing.T) { expect(t, other, want, wishes) })
	}
	argv := []string{self, "probe"}
	for _, w := range wishes {
		argv = append(argv, w[0])
	}
	b, got := run(t, role, want, argv...)
	if len(got) != len(wishes) {
		t.Fatalf("%d lines for %d probes: %q", len(got), len(wishes), got)
	}
	for i, w := range wishes {
		prefix, open := strings.CutSuffix(w[1], "*")
		if got[i] != w[1] && !(open && strings.HasPrefix(got[i], prefix)) {
			t.Errorf("%s: %s; want %s", w[0], got[i], w[1])
		}
	}
	return b
}

// Every TCP connection arrives outside, with what it was meant for.
func TestTCPToAnyAddressArrives(t *testing.T) {
	var wishes [][2]string
	for _, to := range []string{
		"192.0.2.7:443", "10.0.0.1:22", "169.254.169.254:80", "100.64.0.1:1", "172.17.0.1:65535", "8.8.8.8:443", "1.1.1.1:853",
		"198.18.200.200:5432", "[2001:db8::7]:443", "[fd00:ec2::254]:80", "[2001:4860:4860::8888]:443", "[64:ff9b::7f00:1]:80",
		"[fde2:56fc:2074::c612:2]:99", "[2002:7f00:1::]:80",
	} {
		wishes = append(wishes, [2]string{"tcp:" + to, to})
	}
	// A dual-stack socket speaks IPv4 then.
	wishes = append(wishes, [2]string{"tcp:[::ffff:192.0.2.7]:443", "192.0.2.7:443"})
	expect(t, "stage", Want{}, wishes)
}

// With destinations named, a connection to another is refused before it is made.
func TestTCPToNamedDestinationsAlone(t *testing.T) {
	to := destinations("198.18.0.0/15", "203.0.113.9/32", "fde2:56fc:2074::/64", "2001:db8::/33", "203.0.113.10/32:443", "203.0.113.10/32:8443", "2001:db9::/33:22")
	expect(t, "stage", Want{To: to}, [][2]string{
		{"tcp:203.0.113.10:443", "203.0.113.10:443"},
		{"tcp:203.0.113.10:8443", "203.0.113.10:8443"},
		{"tcp:203.0.113.10:80", "ECONNREFUSED"},
		{"tcp:[2001:db9::1]:22", "[2001:db9::1]:22"},
		{"tcp:[2001:db9::1]:23", "ECONNREFUSED"},
		{"tcp:198.18.0.9:443", "198.18.0.9:443"},
		{"tcp:198.19.255.1:22", "198.19.255.1:22"},
		{"tcp:198.20.0.1:443", "ECONNREFUSED"},
		{"tcp:198.17.255.255:443", "ECONNREFUSED"},
		{"tcp:203.0.113.9:443", "203.0.113.9:443"},
		{"tcp:203.0.113.8:443", "ECONNREFUSED"},
		{"tcp:169.254.169.254:80", "ECONNREFUSED"},
		{"tcp:[fde2:56fc:2074::c612:2]:443", "[fde2:56fc:2074::c612:2]:443"},
		{"tcp:[2001:db8::1]:443", "[2001:db8::1]:443"},
		{"tcp:[2001:db8:8000::1]:443", "ECONNREFUSED"},
		{"tcp:[fd00:ec2::254]:80", "ECONNREFUSED"},
		{"tcp:127.0.0.1:81", "ECONNREFUSED"},
		{"udp:198.18.0.9:443", "EPERM"},
		{"dns:udp,8.8.8.8:53,www.allowed.example.,A", "NOERROR 198.18.0.2"},
		{"dns:tcp,[2001:4860:4860::8888]:53,www.allowed.example.,A", "NOERROR 198.18.0.2"},
		{"tcp:198.18.0.2:22", "www.allowed.example:22"},
	})
}

func TestTheMostDestinations(t *testing.T) {
	var want Want
	for i := range MaxTo {
		want.To = append(want.To, Destination{Block: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i), 0, 0}), 17), Port: 443})
	}
	expect(t, "stage", want, [][2]string{
		{"tcp:10.255.127.1:443", "10.255.127.1:443"}, {"tcp:10.0.0.1:443", "10.0.0.1:443"}, {"tcp:10.255.128.1:443", "ECONNREFUSED"}, {"tcp:10.255.127.1:80", "ECONNREFUSED"},
	})
}

// Loopback and the namespace's own addresses are the program's own.
func TestLoopbackStaysInside(t *testing.T) {
	expect(t, "stage", Want{ProxyPort: 3128, Ports: []uint16{5432, 80}}, [][2]string{
		{"tcp:127.0.0.1:3128", "the proxy"},
		{"tcp:[::1]:3128", "the proxy"},
		{"tcp:localhost:3128", "the proxy"},
		{"tcp:127.0.0.1:5432", "port 5432"},
		{"tcp:[::1]:5432", "port 5432"},
		{"tcp:127.0.0.1:80", "port 80"},
		{"tcp:127.0.0.1:81", "ECONNREFUSED"},
		{"tcp:[::1]:81", "ECONNREFUSED"},
		{"tcp:127.9.9.9:3128", "ECONNREFUSED"},
		{"tcp:0.0.0.0:3128", "the proxy"},
		{"tcp:" + Own4.String() + ":443", "ECONNREFUSED"},
		{"tcp:[" + Own6.String() + "]:443", "ECONNREFUSED"},
		{"udp:127.0.0.1:9999", "0 bytes, ECONNREFUSED"},
		// The transparent listener by its own address has nothing to say.
		{"tcp:127.0.0.1:61", "original destination: " + ErrNotRedirected.Error()},
		{"tcp:[::1]:61", "original destination: " + ErrNotRedirected.Error()},
		{"bind:127.0.0.1:3128", "EADDRINUSE"},
		{"bind:127.0.0.1:8080", "ok"},
		{"bind:[::1]:8080", "ok"},
		{"bind::8080", "ok"},
	})
}

func TestNamesAreAnsweredWhateverServerIsAsked(t *testing.T) {
	var wishes [][2]string
	for _, server := range []string{"8.8.8.8:53", "127.0.0.53:53", "127.0.0.1:53", "10.0.0.2:53", "198.18.0.1:53", "[2001:4860:4860::8888]:53", "[::1]:53", "[fd00::1]:53"} {
		for _, network := range []string{"udp", "tcp"} {
			wishes = append(wishes,
				[2]string{fmt.Sprintf("dns:%s,%s,www.allowed.example.,A", network, server), "NOERROR 198.18.0.2"},
				[2]string{fmt.Sprintf("dns:%s,%s,www.allowed.example.,AAAA", network, server), "NOERROR fde2:56fc:2074::c612:2"},
				[2]string{fmt.Sprintf("dns:%s,%s,denied.example.,A", network, server), "NXDOMAIN"})
		}
	}
	expect(t, "stage", Want{}, append(wishes,
		[2]string{"tcp:198.18.0.2:22", "www.allowed.example:22"},
		[2]string{"tcp:[fde2:56fc:2074::c612:2]:443", "www.allowed.example:443"}))
}

// A program that knows of nothing, with the C library's own resolver.
func TestTheCLibrarysResolver(t *testing.T) {
	_, got := run(t, "stage", Want{}, "/usr/bin/getent", "ahostsv4", "www.allowed.example")
	if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "198.18.0.2 ") }) {
		t.Errorf("getent gave %q", got)
	}
}

// Everything else is refused at once: an error, and not the two seconds that
// a program would wait.
func TestTheRestIsRefusedAtOnce(t *testing.T) {
	var wishes [][2]string
	for _, to := range []string{
		"8.8.8.8:443", "8.8.8.8:123", "192.0.2.1:9", "255.255.255.255:67", "224.0.0.251:5353", "239.255.255.250:1900",
		"[2001:db8::1]:443", "[2001:db8::1]:123", "198.18.0.2:443", "[fde2:56fc:2074::c612:2]:443",
	} {
		wishes = append(wishes, [2]string{"udp:" + to, "EPERM"})
	}
	for _, kind := range []string{"raw4", "raw6", "packet"} {
		wishes = append(wishes, [2]string{"socket:" + kind, "EPERM"})
	}
	wishes = append(wishes, [2]string{"socket:ping4", "EACCES"}, [2]string{"socket:ping6", "EACCES"})
	expect(t, "stage", Want{}, wishes)
}

func TestWithoutIPv6(t *testing.T) {
	b := expect(t, "stage-4", Want{ProxyPort: 3128, Ports: []uint16{5432}}, [][2]string{
		{"tcp:192.0.2.7:443", "192.0.2.7:443"},
		{"tcp:127.0.0.1:3128", "the proxy"},
		{"dns:udp,8.8.8.8:53,www.allowed.example.,A", "NOERROR 198.18.0.2"},
		{"dns:tcp,8.8.8.8:53,www.allowed.example.,AAAA", "NOERROR"},
		{"udp:8.8.8.8:443", "EPERM"},
		{"tcp:[2001:db8::7]:443", "E*"},
		{"udp:[2001:db8::7]:443", "E*"},
	})
	if b.IPv6 || len(b.Transparent) != 1 || len(b.Proxy) != 1 || len(b.DNSPackets) != 1 || len(b.DNSStreams) != 1 || len(b.Ports[5432]) != 1 {
		t.Errorf("the listeners are %+v", b.Listeners)
	}
}

func TestListenersAreWhatWasAskedFor(t *testing.T) {
	before := descriptors(t)
	b := openBox(t, "stage", Want{ProxyPort: 3128, Ports: []uint16{5432}}, self, "probe", "wait")
	if !b.IPv6 || len(b.Transparent) != 2 || len(b.Proxy) != 2 || len(b.DNSPackets) != 2 || len(b.DNSStreams) != 2 || len(b.Ports) != 1 {
		t.Errorf("the listeners are %+v", b.Listeners)
	}
	for _, c := range []struct{ got, want string }{
		{b.Proxy[0].Addr().String(), "127.0.0.1:3128"}, {b.Proxy[1].Addr().String(), "[::1]:3128"},
		{b.Transparent[0].Addr().String(), "127.0.0.1:61"}, {b.Transparent[1].Addr().String(), "[::1]:61"},
		{b.DNSPackets[0].LocalAddr().String(), "127.0.0.1:53"}, {b.DNSPackets[1].LocalAddr().String(), "[::1]:53"},
		{b.Ports[5432][1].Addr().String(), "[::1]:5432"},
	} {
		if c.got != c.want {
			t.Errorf("a listener at %s and not %s", c.got, c.want)
		}
	}
	b.wait(t)
	b.Close()
	b.served.Wait()
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before and %d after", before, after)
	}
}

// The program has what it would have if the test had started it.
func TestNoDescriptorIsLeftToTheProgram(t *testing.T) {
	cmd := exec.Command("/bin/ls", "/proc/self/fd")
	plain, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	_, got := run(t, "stage", Want{ProxyPort: 3128}, "/bin/ls", "/proc/self/fd")
	if want := strings.Fields(string(plain)); !slices.Equal(got, want) {
		t.Errorf("the program has %q and not %q", got, want)
	}
}

func TestNothingListensWithoutAWish(t *testing.T) {
	b := expect(t, "stage", Want{}, [][2]string{{"tcp:127.0.0.1:3128", "ECONNREFUSED"}})
	if b.Proxy != nil || b.Ports != nil {
		t.Errorf("the listeners are %+v", b.Listeners)
	}
}

func TestTheMostPorts(t *testing.T) {
	var want Want
	for i := range MaxPorts {
		want.Ports = append(want.Ports, uint16(10000+i))
	}
	b := expect(t, "stage", want, [][2]string{{"tcp:127.0.0.1:10000", "port 10000"}, {"tcp:[::1]:10255", "port 10255"}})
	if len(b.Ports) != MaxPorts {
		t.Errorf("%d ports", len(b.Ports))
	}
}
