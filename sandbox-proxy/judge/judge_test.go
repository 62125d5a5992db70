package judge_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// machine is a System with names and addresses of its own. It notes every name
// that is looked up.
type machine struct {
	names  map[string]string // name to addresses with commas between
	own    string            // interfaces, with commas between
	fails  bool              // the interfaces cannot be read
	lookup []string
}

func (m *machine) system() judge.System {
	return judge.System{
		Lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
			m.lookup = append(m.lookup, name)
			if name == "empty.example" {
				return nil, nil
			}
			if m.names[name] == "" {
				return nil, errors.New("no such host")
			}
			var all []netip.Addr
			for a := range strings.SplitSeq(m.names[name], ",") {
				all = append(all, netip.MustParseAddr(a))
			}
			return all, nil
		},
		Interfaces: func() ([]netip.Prefix, error) {
			if m.fails {
				return nil, errors.New("netlink is closed")
			}
			all := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/8"), netip.MustParsePrefix("::1/128")}
			for p := range strings.SplitSeq(m.own, ",") {
				if p != "" {
					all = append(all, netip.MustParsePrefix(p))
				}
			}
			return all, nil
		},
	}
}

func newJudge(t *testing.T, r judge.Rules, m *machine) *judge.Judge {
	t.Helper()
	j, err := judge.New(r, m.system())
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// says is a decision in a few words: the addresses to dial, or the reason.
func says(d judge.Decision) string {
	if !d.Allowed {
		return string(d.Reason)
	}
	var all []string
	for _, a := range d.Addrs {
		all = append(all, a.String())
	}
	return strings.Join(all, " ")
}

// A case is a call and what is said of it.
type call struct {
	host string
	port uint16
	want string
}

func ask(t *testing.T, r judge.Rules, m *machine, calls []call) {
	t.Helper()
	j := newJudge(t, r, m)
	for _, c := range calls {
		d := j.Judge(t.Context(), judge.Call{By: judge.ByConnect, Host: c.host, Port: c.port})
		if got := says(d); got != c.want {
			t.Errorf("%q port %d: %s (%s), want %s", c.host, c.port, got, d.Detail, c.want)
		}
	}
}

var internetNames = map[string]string{
	"allowed.example":       "192.0.2.10",
	"a.wild.example":        "192.0.2.11",
	"a.b.wild.example":      "192.0.2.12",
	"wild.example":          "192.0.2.13",
	"notallowed.example":    "192.0.2.14",
	"db.example":            "192.0.2.15",
	"both.example":          "2001:db8::1,192.0.2.16",
	"xn--bcher-kva.example": "192.0.2.17",
	"under_score.example":   "192.0.2.18",
	"private.example":       "10.1.2.3",
	"mixed.example":         "192.0.2.19,192.168.1.1",
	"rebound.example":       "192.0.2.19,127.0.0.1",
	"cgnat.example":         "100.64.0.1",
	"loopback.example":      "127.0.0.1",
	"loopback6.example":     "::1",
	"mapped.example":        "::ffff:127.0.0.1",
	"mine.example":          "198.51.100.7",
	"near.example":          "198.51.99.9",
	"cloud.example":         "169.254.169.254",
	"azure.example":         "168.63.129.16",
	"nat64.example":         "64:ff9b::c000:20a",
	"nat64in.example":       "64:ff9b::a01:203",
	"nat64meta.example":     "64:ff9b::a9fe:a9fe",
	"ula.example":           "fd12::1",
	"sixtofour.example":     "2002:7f00:1::",
}

func TestHosts(t *testing.T) {
	m := &machine{names: internetNames}
	ask(t, judge.Rules{
		Hosts: []string{"allowed.example", "*.wild.example", "at.example:8443", "*.at.example:8443", "xn--bcher-kva.example", "under_score.example", "192.0.2.99", "[2001:db8::99]:8443"},
		TCP:   []string{"db.example:5432", "db.example:443"},
	}, m, []call{
		{"allowed.example", 443, "192.0.2.10:443"},
		{"allowed.example", 80, "192.0.2.10:80"},
		{"ALLOWED.Example", 443, "192.0.2.10:443"},
		{"allowed.example.", 443, "192.0.2.10:443"},
		{"allowed.example", 22, "port"},
		{"allowed.example", 8443, "port"},
		{"allowed.example", 0, "malformed"},
		{"allowed.example..", 443, "malformed"},
		{".allowed.example", 443, "malformed"},
		{"allowed..example", 443, "malformed"},
		{"notallowed.example", 443, "host"},
		{"allowed.example.evil.example", 443, "host"},
		{"a.allowed.example", 443, "host"},
		{"example", 443, "host"},
		{"a.wild.example", 443, "192.0.2.11:443"},
		{"a.b.Wild.example.", 443, "192.0.2.12:443"},
		{"wild.example", 443, "host"},
		{"xwild.example", 443, "host"},
		{"a.wild.example.evil.example", 443, "host"},
		{"wild.example.example", 443, "host"},
		{"at.example", 443, "port"},
		{"a.at.example", 443, "port"},
		{"bücher.example", 443, "192.0.2.17:443"},
		{"BÜCHER.example", 443, "192.0.2.17:443"},
		{"XN--Bcher-KVA.example", 443, "192.0.2.17:443"},
		{"under_score.example", 443, "192.0.2.18:443"},
		{"192.0.2.99", 443, "192.0.2.99:443"},
		{"192.0.2.99.", 443, "192.0.2.99:443"},
		{"::ffff:192.0.2.99", 443, "192.0.2.99:443"},
		{"192.0.2.98", 443, "host"},
		{"192.0.2.10", 443, "host"}, // an allowed name's address is not an allowed host
		{"[2001:db8::99]", 8443, "[2001:db8::99]:8443"},
		{"2001:DB8:0::99", 8443, "[2001:db8::99]:8443"},
		{"[2001:db8::99]", 443, "port"},
		{"db.example", 5432, "192.0.2.15:5432"},
		{"db.example", 80, "port"},
	})
	for _, name := range m.lookup {
		if name == "notallowed.example" || strings.Contains(name, "evil") {
			t.Errorf("%s was looked up, although no rule names it", name)
		}
	}
}

// Spellings that some resolver, upstream or library reads as another host than
// the one a rule names.
func TestSpellings(t *testing.T) {
	m := &machine{names: internetNames}
	calls := []call{}
	for _, s := range []string{
		"", "a b", "a\tb", "a\x00b", "allowed.example\x00", "bad.test\x00.allowed.example", "allowed.example\n", "allowed.example%00",
		"allowed.example:443", "u@allowed.example", "allowed.example/", "allowed.example?", "allowed.example#", `allowed.example\`, "*.example", "*",
		"[allowed.example]", "[127.0.0.1]", "[::1", "::1]", "[::1%25lo]", "[::1%lo]", "fe80::1%eth0", "[]", "[::1]:22",
		"127.1", "0x7f.1", "0x7f000001", "2130706433", "0177.0.0.1", "0", "1", "127.0.0.1.1", "1.2.3", "256.1.1.1", "01.2.3.4", "1.2.3.0x4", "a.0x", "a.9",
		"127。0。0。1", "127.0.0.¹", "¹²⁷.0.0.1", "１２７.０.０.１", "allowed。example", "ａllowed.example", "aℓℓowed.example", "allowed\u00ad.example",
		"xn--0.example", "xn--allowed-.example", "xn--a.example", "-a.example", "a-.example", strings.Repeat("a", 64) + ".example", strings.Repeat("a.", 127) + "example",
		strings.Repeat("a", 300), "\xff\xfe.example", "allowed.example\u200b",
	} {
		calls = append(calls, call{s, 443, "malformed"})
	}
	for _, r := range []judge.Rules{{Hosts: []string{"allowed.example", "*.example"}}, {}, {LAN: true}, {AnyPort: true}} {
		ask(t, r, m, calls)
	}
	if len(m.lookup) > 0 {
		t.Errorf("looked up %q", m.lookup)
	}
}

// What can hurt a reader of names is refused before it is read as one.
func TestRefusedFirst(t *testing.T) {
	j := newJudge(t, judge.Rules{}, &machine{})
	for host, want := range map[string]string{
		strings.Repeat("ü", 200): "longer than 255 bytes", "ü\x00.example": "a byte that no host has: 0x00", "ü\x7f.example": "0x7f", "fe80::1%eth0": "0x25", "[fe80::1%eth0]": "0x25", "": "empty",
	} {
		if d := j.Rule(judge.Call{Host: host, Port: 443}); d.Reason != judge.Malformed || !strings.Contains(d.Detail, want) {
			t.Errorf("%q: %s, want %s", host, d.Detail, want)
		}
	}
}

// C20 and its kind: this machine, however it is written.
func TestLoopback(t *testing.T) {
	m := &machine{names: internetNames, own: "192.168.7.2/24,198.51.100.7/24,2a00:1::5/64"}
	var never, plain []call
	for _, s := range []string{
		"127.0.0.2", "127.255.255.254", "::ffff:127.0.0.2", "foo.localhost", "a.b.localhost.",
		"0.0.0.0", "::", "[::]", "0.1.2.3", "0.0.0.1", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::7f00:2]", "[2002:7f00:1::]", "[::ffff:0:127.0.0.1]",
		"192.168.7.2", "198.51.100.7", "[2a00:1::5]", "[64:ff9b::c0a8:702]",
		"loopback.example", "loopback6.example", "mapped.example", "mine.example", "rebound.example",
		"224.0.0.1", "[ff02::1]", "240.0.0.1", "255.255.255.255", "[100::1]", "[fec0::1]", "[5f00::1]", "192.0.0.8", "192.88.99.1", "198.18.0.5", "[2001::1]", "[64:ff9b:1::1]",
	} {
		never = append(never, call{s, 5432, "address"})
	}
	for _, s := range []string{"127.0.0.1", "[::1]", "::1", "localhost", "localhost.", "LOCALHOST", "[::ffff:127.0.0.1]", "::ffff:7f00:1"} {
		plain = append(plain, call{s, 5432, "127.0.0.1:5432 [::1]:5432"}, call{s, 5433, "address"}, call{s, 443, "address"})
	}
	open := judge.Rules{Ports: []uint16{5432}, LAN: true, AnyPort: true}
	ask(t, open, m, append(never, plain...))
	for i := range plain {
		plain[i].want = "address"
	}
	open.Ports = nil
	ask(t, open, m, append(never, plain...))
}

// What is told to open a call of loopback opens it; a spelling that nothing
// opens is told as such.
func TestLoopbackAdvice(t *testing.T) {
	m := &machine{names: internetNames}
	rule := func(ports []uint16, host string) judge.Decision {
		j, err := judge.New(judge.Rules{Ports: ports}, m.system())
		if err != nil {
			t.Fatal(err)
		}
		return j.Rule(judge.Call{By: judge.ByConnect, Host: host, Port: 5432})
	}
	for _, host := range []string{"127.0.0.1", "localhost", "localhost.", "[::1]", "::ffff:127.0.0.1", "127.0.0.2", "127.1.2.3", "foo.localhost"} {
		told := rule(nil, host)
		if opens := rule([]uint16{5432}, host).Allowed; told.Allowed || opens != (told.Open.Flag == "--port 5432") || opens != (told.Open.Member == "ports = [5432]") {
			t.Errorf("%s: %q and %q are told, and with the port it is open: %v", host, told.Open.Flag, told.Open.Member, opens)
		} else if opens == strings.Contains(told.Detail, "localhost, 127.0.0.1 and ::1") {
			t.Errorf("%s: %s", host, told.Detail)
		}
	}
}

func TestAddresses(t *testing.T) {
	m := &machine{names: internetNames, own: "198.51.99.2/24,203.0.113.5/24,10.9.9.9/8"}
	web := func(all ...call) []call { return all }
	closed := web(
		call{"private.example", 443, "address"}, call{"mixed.example", 443, "address"}, call{"cgnat.example", 443, "address"},
		call{"near.example", 443, "address"}, call{"ula.example", 443, "address"}, call{"nat64in.example", 443, "address"},
		call{"10.1.2.3", 80, "address"}, call{"172.16.0.1", 80, "address"}, call{"172.31.255.255", 80, "address"}, call{"192.168.1.1", 80, "address"},
		call{"100.127.255.255", 80, "address"}, call{"169.254.1.1", 80, "address"}, call{"fd00::1", 80, "address"}, call{"fe80::1", 80, "address"}, call{"198.51.99.9", 80, "address"},
		call{"64:ff9b::a01:203", 80, "address"},
	)
	always := web(
		call{"cloud.example", 443, "address"}, call{"azure.example", 443, "address"}, call{"nat64meta.example", 443, "address"}, call{"sixtofour.example", 443, "address"},
		call{"169.254.169.254", 80, "address"}, call{"::ffff:169.254.169.254", 80, "address"}, call{"64:ff9b::a9fe:a9fe", 80, "address"}, call{"fd00:ec2::254", 80, "address"},
		call{"fd20:ce::254", 80, "address"}, call{"100.100.100.200", 80, "address"}, call{"168.63.129.16", 80, "address"}, call{"192.0.0.192", 80, "address"},
		call{"METADATA.google.internal.", 80, "address"}, call{"metadata.google.internal", 80, "address"},
		call{"203.0.113.5", 80, "address"}, // this machine's own, although in a documentation block
	)
	fine := web(
		call{"both.example", 443, "[2001:db8::1]:443 192.0.2.16:443"}, call{"nat64.example", 443, "[64:ff9b::c000:20a]:443"},
		call{"203.0.113.6", 80, "203.0.113.6:80"}, // attached, in a documentation block
		call{"172.32.0.1", 80, "172.32.0.1:80"}, call{"11.0.0.1", 80, "11.0.0.1:80"}, call{"[2a00::1]", 443, "[2a00::1]:443"}, call{"3fff::1", 443, "[3fff::1]:443"},
		call{"nosuch.example", 443, "unresolved"}, call{"empty.example", 443, "unresolved"},
	)
	ask(t, judge.Rules{}, m, append(append(closed, always...), fine...))
	var opened []call
	for _, c := range closed {
		c.want = ""
		opened = append(opened, c)
	}
	j := newJudge(t, judge.Rules{LAN: true}, m)
	for _, c := range opened {
		if d := j.Judge(t.Context(), judge.Call{Host: c.host, Port: c.port}); !d.Allowed || len(d.Addrs) == 0 {
			t.Errorf("%s with lan: %s", c.host, says(d))
		}
	}
	ask(t, judge.Rules{LAN: true}, m, append(always, fine...))
	ask(t, judge.Rules{Hosts: []string{"10.1.2.3", "private.example"}, TCP: []string{"10.1.2.3:22", "private.example:22"}}, m, []call{
		{"10.1.2.3", 22, "10.1.2.3:22"}, {"10.1.2.3", 443, "address"}, {"10.1.2.4", 22, "host"}, {"private.example", 22, "address"}, {"private.example", 443, "address"},
	})
}

// An empty list is nothing, not everything.
func TestEmptyIsNone(t *testing.T) {
	m := &machine{names: internetNames}
	ask(t, judge.Rules{Hosts: []string{}}, m, []call{
		{"allowed.example", 443, "host"}, {"192.0.2.10", 443, "host"}, {"localhost", 80, "address"},
	})
	ask(t, judge.Rules{}, m, []call{
		{"allowed.example", 443, "192.0.2.10:443"}, {"allowed.example", 22, "port"}, {"192.0.2.10", 80, "192.0.2.10:80"},
	})
	ask(t, judge.Rules{NoInternet: true, TCP: []string{"allowed.example:22"}, LAN: true, Ports: []uint16{80}}, m, []call{
		{"allowed.example", 443, "no_internet"}, {"allowed.example", 22, "no_internet"}, {"10.0.0.1", 80, "no_internet"}, {"localhost", 80, "127.0.0.1:80 [::1]:80"},
	})
}

func TestUnsure(t *testing.T) {
	m := &machine{names: internetNames, fails: true}
	ask(t, judge.Rules{}, m, []call{{"allowed.example", 443, "unsure"}, {"192.0.2.10", 443, "unsure"}})
}

func TestExpect(t *testing.T) {
	j := newJudge(t, judge.Rules{Hosts: []string{"a.example", "a.example:8443", "b.example"}, TCP: []string{"b.example:443", "b.example:22"}, Ports: []uint16{443}}, &machine{})
	for _, c := range []struct {
		host string
		port uint16
		want judge.Protocol
	}{
		{"a.example", 443, judge.TLS}, {"a.example", 80, judge.HTTP}, {"a.example", 8443, judge.AnyProtocol},
		{"b.example", 443, judge.AnyProtocol}, {"b.example", 80, judge.HTTP}, {"b.example", 22, judge.AnyProtocol}, {"localhost", 443, judge.AnyProtocol},
	} {
		if d := j.Rule(judge.Call{Host: c.host, Port: c.port}); !d.Allowed || d.Expect != c.want {
			t.Errorf("%s:%d: %v, expects %v, want %v", c.host, c.port, d.Allowed, d.Expect, c.want)
		}
	}
}

func TestName(t *testing.T) {
	m := &machine{names: internetNames}
	rules := judge.Rules{Hosts: []string{"allowed.example", "*.wild.example", "at.example:8443"}, TCP: []string{"db.example:5432", "10.1.2.3:22"}, Ports: []uint16{1}}
	j := newJudge(t, rules, m)
	for _, name := range []string{"allowed.example", "Allowed.Example.", "x.wild.example", "at.example", "db.example", "localhost"} {
		if d := j.Name(name); !d.Allowed {
			t.Errorf("%s: %s", name, d.Reason)
		}
	}
	for _, name := range []string{"wild.example", "evil.example", "x.allowed.example", "10.1.2.3", "[::1]", "foo.localhost", "metadata.google.internal", "a b", "", "."} {
		if d := j.Name(name); d.Allowed || d.Reason == "" {
			t.Errorf("%q is allowed", name)
		}
	}
	for r, want := range map[*judge.Rules]bool{{}: true, {Hosts: []string{}}: false, {NoInternet: true}: false} {
		if got := newJudge(t, *r, m).Name("any.example").Allowed; got != want {
			t.Errorf("%+v: any.example: %v, want %v", r, got, want)
		}
	}
	for _, name := range []string{"metadata.google.internal", "Metadata.Google.Internal.", "localhost", "foo.localhost"} {
		if newJudge(t, judge.Rules{AnyPort: true, LAN: true}, m).Name(name).Allowed {
			t.Errorf("%s is allowed where any name is", name)
		}
	}
	if len(m.lookup) > 0 {
		t.Errorf("a question about a name looked up %q", m.lookup)
	}
}

func TestAbove(t *testing.T) {
	rules := judge.Rules{
		Hosts: []string{"a.b.example", "*.w.wild.test", "x.w.wild.test", "c.at.test:8443", "192.0.2.1", "one"}, TCP: []string{"p.db.test:5432", "192.0.2.2:22"},
	}
	j := newJudge(t, rules, &machine{})
	for _, name := range []string{"b.example", "example", "w.wild.test", "wild.test", "test", "at.test", "db.test"} {
		if !j.Above(name) {
			t.Errorf("%s is above nothing", name)
		}
	}
	for _, name := range []string{"a.b.example", "x.w.wild.test", "z.w.wild.test", "xample", "", "2.1", "0.2.1", "1", "one", "other"} {
		if j.Above(name) {
			t.Errorf("%q is above something", name)
		}
	}
	rules.NoInternet = true
	if newJudge(t, rules, &machine{}).Above("b.example") {
		t.Error("something is under a name where there is no internet")
	}
}

// What a refusal says opens the call: put where it says, it does.
func TestOpen(t *testing.T) {
	m := &machine{names: internetNames, own: "2a00:1450::1/64"}
	j := newJudge(t, judge.Rules{Hosts: []string{"allowed.example"}}, m)
	for _, c := range []struct {
		host   string
		port   uint16
		member string
		flag   string
		opened judge.Rules
	}{
		{"db.example", 443, `hosts = ["db.example"]`, "--internet-host db.example", judge.Rules{Hosts: []string{"db.example"}}},
		{"db.example", 5432, `tcp = ["db.example:5432"]`, "--tcp db.example:5432", judge.Rules{TCP: []string{"db.example:5432"}}},
		{"allowed.example", 22, `tcp = ["allowed.example:22"]`, "--tcp allowed.example:22", judge.Rules{TCP: []string{"allowed.example:22"}}},
		{"10.1.2.3", 443, `tcp = ["10.1.2.3:443"]`, "--tcp 10.1.2.3:443", judge.Rules{TCP: []string{"10.1.2.3:443"}}},
		{"2a00:1450::7", 443, `tcp = ["[2a00:1450::7]:443"]`, "--tcp [2a00:1450::7]:443", judge.Rules{TCP: []string{"[2a00:1450::7]:443"}}}, // attached
		{"2a00:1451::7", 443, `hosts = ["[2a00:1451::7]"]`, "--internet-host [2a00:1451::7]", judge.Rules{Hosts: []string{"[2a00:1451::7]"}}},
		{"::1", 5432, "ports = [5432]", "--port 5432", judge.Rules{Ports: []uint16{5432}}},
	} {
		d := j.Judge(t.Context(), judge.Call{Host: c.host, Port: c.port})
		if diff := cmp.Diff(judge.Open{Member: c.member, Flag: c.flag}, d.Open); d.Allowed || diff != "" {
			t.Errorf("%s:%d: %s", c.host, c.port, diff)
		}
		if d := newJudge(t, c.opened, m).Judge(t.Context(), judge.Call{Host: c.host, Port: c.port}); !d.Allowed {
			t.Errorf("%s:%d: what opens it does not: %s", c.host, c.port, d.Detail)
		}
	}
	private := newJudge(t, judge.Rules{}, m).Judge(t.Context(), judge.Call{Host: "private.example", Port: 443})
	if private.Open.Member != "lan = true" || private.Open.Flag != "--lan" || private.Refused != netip.MustParseAddr("10.1.2.3") || strings.Contains(private.Detail, "10.") {
		t.Errorf("a private address: %+v", private)
	}
}

func TestOnward(t *testing.T) {
	m := &machine{names: internetNames}
	j := newJudge(t, judge.Rules{}, m)
	for host, want := range map[string]string{
		"allowed.example": "192.0.2.10:443", "private.example": "address", "nosuch.example": "", "10.0.0.1": "address", "cloud.example": "address", "metadata.google.internal": "address",
	} {
		if d := j.Judge(t.Context(), judge.Call{Host: host, Port: 443, Onward: true}); says(d) != want {
			t.Errorf("%s: %s, want %q", host, says(d), want)
		}
	}
	m.lookup = nil
	if d := j.Judge(t.Context(), judge.Call{Host: "nosuch.example", Port: 443, Onward: true}); !d.Allowed || len(m.lookup) > 0 {
		t.Errorf("a name with no address here was asked for again: %v %q", d.Allowed, m.lookup)
	}
	if d := j.Judge(t.Context(), judge.Call{Host: "nosuch.example", Port: 443}); d.Allowed {
		t.Error("without an upstream a name with no address is allowed")
	}
}

// Of more addresses than are dialled some are of either family, and each is
// judged.
func TestManyAddresses(t *testing.T) {
	var six []string
	for i := range 20 {
		six = append(six, fmt.Sprintf("2001:db8::%d", i+1))
	}
	m := &machine{names: map[string]string{
		"many.example": strings.Join(six, ",") + ",192.0.2.1",
		"trap.example": strings.Join(six, ",") + ",10.0.0.1",
	}}
	j := newJudge(t, judge.Rules{Hosts: []string{"many.example", "trap.example"}}, m)
	d := j.Judge(t.Context(), judge.Call{By: judge.ByConnect, Host: "many.example", Port: 443})
	if got := says(d); !strings.HasPrefix(got, "[2001:db8::1]:443 192.0.2.1:443 [2001:db8::2]:443") || len(d.Addrs) > 16 {
		t.Errorf("%d: %s", len(d.Addrs), got)
	}
	ask(t, judge.Rules{Hosts: []string{"trap.example"}}, m, []call{{"trap.example", 443, "address"}})
}
