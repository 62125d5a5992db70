package names

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// clock is a time that moves when told.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func newClock() *clock { return &clock{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func TestEveryAddressStandsForItsNumber(t *testing.T) {
	seen := make(map[netip.Addr]bool, addresses)
	for i := range addresses {
		v4 := four(i)
		last := v4.As4()[3]
		if seen[v4] || !Block4.Contains(v4) || last == 0 || last == 255 || v4 == own4 {
			t.Fatalf("address %d is %v, which is given twice or not to be given", i, v4)
		}
		seen[v4] = true
		for _, a := range []netip.Addr{v4, six(v4), netip.AddrFrom16(v4.As16())} {
			if got, ok := number(a); !ok || got != i {
				t.Fatalf("number(%v) = %d, %v; want %d", a, got, ok, i)
			}
		}
	}
	for _, a := range []string{
		"198.18.0.0", "198.18.0.1", "198.18.0.255", "198.18.1.0", "198.19.255.255", "198.17.255.254", "198.20.0.1",
		"127.0.0.1", "::", "::1", "fde2:56fc:2074::", "fde2:56fc:2074::1", "fde2:56fc:2074::c612:1",
		"fde2:56fc:2074:0:1::c612:2", "fde2:56fc:2074:1::c612:2", "fde2:56fc:2074::c614:2",
	} {
		if i, ok := number(netip.MustParseAddr(a)); ok {
			t.Errorf("number(%s) = %d; want none", a, i)
		}
	}
	if i, ok := number(netip.Addr{}); ok {
		t.Errorf("number of the zero address = %d; want none", i)
	}
}

func TestPoolKeepsAName(t *testing.T) {
	c := newClock()
	p := NewPool(c.now)
	v4, v6, err := p.Addresses("a.example")
	if err != nil || !v4.Is4() || !v6.Is6() || !Block4.Contains(v4) || !Block6.Contains(v6) {
		t.Fatalf("Addresses = %v, %v, %v", v4, v6, err)
	}
	other, _, _ := p.Addresses("b.example")
	if other == v4 {
		t.Fatalf("two names have %v", v4)
	}
	c.move(1000 * time.Hour)
	for range 2 {
		again4, again6, err := p.Addresses("a.example")
		if again4 != v4 || again6 != v6 || err != nil {
			t.Fatalf("later: %v, %v, %v; want %v, %v", again4, again6, err, v4, v6)
		}
	}
	for _, a := range []netip.Addr{v4, v6, netip.AddrFrom16(v4.As16())} {
		if name, ok := p.Name(a); name != "a.example" || !ok {
			t.Errorf("Name(%v) = %q, %v", a, name, ok)
		}
	}
	for _, a := range []netip.Addr{{}, own4, own6, four(addresses - 1), netip.MustParseAddr("192.0.2.1")} {
		if name, ok := p.Name(a); ok {
			t.Errorf("Name(%v) = %q; want none", a, name)
		}
	}
}

func TestPoolIsBounded(t *testing.T) {
	c := newClock()
	p := NewPool(c.now)
	first, _, _ := p.Addresses("n0.example")
	second, _, _ := p.Addresses("n1.example")
	for i := 2; i < MaxNames; i++ {
		if _, _, err := p.Addresses(fmt.Sprintf("n%d.example", i)); err != nil {
			t.Fatalf("name %d: %v", i, err)
		}
	}
	if _, _, err := p.Addresses("more.example"); !errors.Is(err, ErrFull) {
		t.Fatalf("one name more: %v; want ErrFull", err)
	}
	c.move(keepTime)
	if _, _, err := p.Addresses("more.example"); !errors.Is(err, ErrFull) {
		t.Fatalf("at %v: %v; want ErrFull", keepTime, err)
	}
	// Used again by its address, the oldest is no longer that: the next goes.
	if name, _ := p.Name(first); name != "n0.example" {
		t.Fatalf("the first name is %q", name)
	}
	c.move(time.Nanosecond)
	fresh, _, err := p.Addresses("more.example")
	if err != nil {
		t.Fatalf("past %v: %v", keepTime, err)
	}
	if fresh == first || fresh == second {
		t.Errorf("an address was given again at once: %v", fresh)
	}
	if name, ok := p.Name(second); ok {
		t.Errorf("the oldest name is still there: %q", name)
	}
	if name, _ := p.Name(first); name != "n0.example" {
		t.Errorf("a name in use was dropped for %q", name)
	}
	if len(p.byName) != MaxNames || len(p.byNumber) != MaxNames || p.byUse.Len() != MaxNames {
		t.Errorf("it holds %d, %d, %d; want %d", len(p.byName), len(p.byNumber), p.byUse.Len(), MaxNames)
	}
}

func TestPoolGoesRoundTheBlock(t *testing.T) {
	c := newClock()
	p := NewPool(c.now)
	pinned, _, _ := p.Addresses("pinned.example")
	for i := range addresses + 10 {
		c.move(time.Second)
		if _, _, err := p.Addresses(fmt.Sprintf("n%d.example", i)); err != nil {
			t.Fatalf("name %d: %v", i, err)
		}
		if name, _ := p.Name(pinned); name != "pinned.example" {
			t.Fatalf("after %d names %v is %q", i, pinned, name)
		}
	}
}

func TestPoolClockGoesBack(t *testing.T) {
	c := newClock()
	p := NewPool(c.now)
	p.Addresses("a.example")
	at := p.byName["a.example"].Value.(*entry).used
	c.move(-time.Hour)
	p.Addresses("a.example")
	if got := p.byName["a.example"].Value.(*entry).used; !got.Equal(at) {
		t.Errorf("the last use went from %v to %v", at, got)
	}
}

// No address is given to another name within keepTime of its last use, and none
// stands for two names.
func TestPoolNeverTakesWhatIsInUse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newClock()
		p := NewPool(c.now)
		type use struct {
			name string
			at   time.Time
		}
		last := map[netip.Addr]use{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			c.move(time.Duration(rapid.IntRange(0, int(keepTime/time.Second)).Draw(t, "seconds")) * time.Second)
			for range rapid.IntRange(1, 4).Draw(t, "uses") {
				name := fmt.Sprintf("n%d.example", rapid.IntRange(0, 40).Draw(t, "name"))
				v4, _, err := p.Addresses(name)
				if err != nil {
					t.Fatal(err)
				}
				if was, known := last[v4]; known && was.name != name && c.now().Sub(was.at) <= keepTime {
					t.Fatalf("%v went from %s to %s after %v", v4, was.name, name, c.now().Sub(was.at))
				}
				last[v4] = use{name, c.now()}
				if got, ok := p.Name(v4); !ok || got != name {
					t.Fatalf("Name(%v) = %q, %v; want %s", v4, got, ok, name)
				}
			}
		}
	})
}

func TestPoolFromManyGoroutines(t *testing.T) {
	p := NewPool(nil)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 300 {
				name := fmt.Sprintf("n%d.example", (i*7+g)%100)
				v4, _, err := p.Addresses(name)
				if got, _ := p.Name(v4); err != nil || got != name {
					t.Errorf("%s: %v, and it stands for %q", name, err, got)
				}
			}
		})
	}
	wg.Wait()
}
