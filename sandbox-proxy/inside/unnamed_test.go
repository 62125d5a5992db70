//go:build linux

package inside

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// told gives what was told of, each once, in the order it was.
func (b *box) told(t *testing.T) (all []string) {
	t.Helper()
	if b.Unnamed == nil {
		t.Fatal("the kernel tells of nothing")
	}
	b.Unnamed.End()
	for {
		meant, err := b.Unnamed.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.TrimPrefix(meant.Over.String()+" "+meant.To.String(), "tcp "))
	}
}

// Whoever holds the network learns where a call that the kernel refused was to
// go, and of no other call.
func TestCallsThatNobodyNamedAreTold(t *testing.T) {
	want := Want{ProxyPort: 3128, To: destinations("198.18.0.0/15:443", "2001:db8::/33")}
	for _, role := range []string{"stage", "hand"} {
		b := expect(t, role, want, [][2]string{
			{"tcp:192.0.2.7:443", "ECONNREFUSED"},
			{"tcp:198.18.0.9:443", "198.18.0.9:443"},
			{"tcp:198.18.0.9:22", "ECONNREFUSED"},
			{"tcp:[2001:db8:8000::1]:22", "ECONNREFUSED"},
			{"tcp:[2001:db8::1]:443", "[2001:db8::1]:443"},
			{"tcp:127.0.0.1:3128", "the proxy"},
			{"tcp:127.0.0.1:81", "ECONNREFUSED"},
			{"tcp:[::1]:81", "ECONNREFUSED"},
			{"udp:192.0.2.7:443", "EPERM"},
			{"udp:198.18.0.9:443", "EPERM"},
			{"udp:[2001:db8::1]:123", "EPERM"},
			{"tcp:169.254.169.254:80", "ECONNREFUSED"},
			{"dns:udp,8.8.8.8:53,denied.example.,A", "NXDOMAIN"},
		})
		if got, want := b.told(t), []string{
			"192.0.2.7:443", "198.18.0.9:22", "[2001:db8:8000::1]:22", "udp 192.0.2.7:443", "udp 198.18.0.9:443", "udp [2001:db8::1]:123", "169.254.169.254:80",
		}; !slices.Equal(got, want) {
			t.Errorf("%s: told of %q, want %q", role, got, want)
		}
		if b.Unnamed.paced == 0 {
			t.Errorf("%s: what is read is not counted, and so no flood is held back", role)
		}
	}
}

// More of them than anybody reads change nothing about any call.
func TestManyCallsThatNobodyNamed(t *testing.T) {
	const n = 600
	var wishes [][2]string
	for i := range n {
		wishes = append(wishes, [2]string{fmt.Sprintf("tcp:192.0.2.7:%d", 1000+i), "ECONNREFUSED"})
	}
	b := expect(t, "stage", Want{To: destinations("198.18.0.0/15")}, wishes)
	if got := b.told(t); len(got) == 0 || len(got) > n || got[0] != "192.0.2.7:1000" {
		t.Errorf("told of %d: %q", len(got), got[:min(len(got), 3)])
	}
}

// A flood is read at a bounded pace, and a reader that waits does so no longer
// than to the end.
func TestAFloodIsReadAtABoundedPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &Unnamed{ended: make(chan struct{})}
		begun := time.Now()
		read := func(n int) time.Duration {
			for range n {
				u.keepPace()
			}
			return time.Since(begun)
		}
		if took := read(2*maxPaced - 1); took != 0 {
			t.Errorf("the first ones took %v", took)
		}
		if took := read(1); took != pace {
			t.Errorf("twice as many took %v, want %v", took, pace)
		}
		time.AfterFunc(pace/2, func() { u.end.Do(func() { close(u.ended) }) })
		if took := read(10 * maxPaced); took != pace+pace/2 {
			t.Errorf("with the end in between it took %v, want %v", took, pace+pace/2)
		}
	})
}

// Where the kernel tells of nothing the rules are the same but for that.
func TestRulesOfAKernelThatTellsNothing(t *testing.T) {
	want := strings.ReplaceAll(strings.Replace(goldenRules, "table inet lnk", "table inet other", 1),
		"log group 1 snaplen 128 queue-threshold 1 ", "")
	if want == goldenRules || strings.Contains(want, "log") {
		t.Fatal("the rules tell of nothing")
	}
	if got := tampered(t, "without"); got != "true <nil>\n"+want {
		t.Errorf("got\n%s", got)
	}
}

func TestMeantFor(t *testing.T) {
	four := func(options int, protocol byte, to string, rest ...byte) []byte {
		b := make([]byte, 20+options)
		b[0], b[9] = 0x40|byte((20+options)/4), protocol
		copy(b[16:], netip.MustParseAddr(to).AsSlice())
		return append(b, rest...)
	}
	six := func(next byte, to string, rest ...byte) []byte {
		b := make([]byte, 40)
		b[0], b[6] = 0x60, next
		copy(b[24:], netip.MustParseAddr(to).AsSlice())
		return append(b, rest...)
	}
	extension := func(next byte, more int) []byte { return append([]byte{next, byte(more)}, make([]byte, 6+8*more)...) }
	tcp := []byte{0xc0, 0, 0x01, 0xbb}
	for what, c := range map[string]struct {
		packet []byte
		want   string
	}{
		"IPv4":                           {four(0, 6, "192.0.2.7", tcp...), "192.0.2.7:443"},
		"IPv4 with options":              {four(40, 6, "192.0.2.7", tcp...), "192.0.2.7:443"},
		"IPv6":                           {six(6, "2001:db8::7", tcp...), "[2001:db8::7]:443"},
		"IPv6 with extensions":           {six(0, "2001:db8::7", slices.Concat(extension(60, 1), extension(43, 0), extension(6, 2), tcp)...), "[2001:db8::7]:443"},
		"nothing":                        {nil, ""},
		"IPv4 cut in its head":           {four(0, 6, "192.0.2.7")[:19], ""},
		"IPv4 cut in its port":           {four(0, 6, "192.0.2.7", tcp[:3]...), ""},
		"IPv4 whose head is too short":   {append([]byte{0x41}, four(0, 6, "192.0.2.7", tcp...)[1:]...), ""},
		"IPv4 whose head is longer":      {append([]byte{0x4f}, four(0, 6, "192.0.2.7", tcp...)[1:]...), ""},
		"UDP":                            {four(0, 17, "192.0.2.7", tcp...), "udp 192.0.2.7:443"},
		"UDP over IPv6":                  {six(17, "2001:db8::7", tcp...), "udp [2001:db8::7]:443"},
		"UDP cut in its port":            {four(0, 17, "192.0.2.7", tcp[:3]...), ""},
		"ICMP":                           {four(0, 1, "192.0.2.7", tcp...), ""},
		"IPv6 cut in its head":           {six(6, "2001:db8::7")[:39], ""},
		"IPv6 cut in its port":           {six(6, "2001:db8::7", tcp[:3]...), ""},
		"IPv6 cut in an extension":       {six(0, "2001:db8::7", 6), ""},
		"IPv6 whose extension is longer": {six(0, "2001:db8::7", append(extension(6, 0), tcp...)...)[:44], ""},
		"another version":                {append([]byte{0x75}, make([]byte, 60)...), ""},
	} {
		got, ok := meantFor(c.packet)
		if ok != (c.want != "") || ok && strings.TrimPrefix(got.Over.String()+" "+got.To.String(), "tcp ") != c.want {
			t.Errorf("%s: %v, %v; want %q", what, got, ok, c.want)
		}
	}
}
