package names

import (
	"container/list"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"
)

const (
	// MaxNames is how many names a pool keeps. It is an eighth of the block,
	// so that an address rests for long before it is given again.
	MaxNames = 16384
	// keepTime is how long a name's address stays its own past its last use:
	// longer than programs remember an answer against its TTL.
	keepTime = time.Hour
)

// ErrFull says that MaxNames names were all used within keepTime.
var ErrFull = errors.New("too many names are in use")

// Pool gives each name an address of its own. It may be used by several
// goroutines at once.
type Pool struct {
	now func() time.Time

	mu       sync.Mutex
	byName   map[string]*list.Element
	byNumber map[int]*list.Element
	byUse    *list.List // of *entry, the last used in front
	next     int        // the number to try next
}

type entry struct {
	name   string
	number int
	used   time.Time
}

// NewPool makes an empty pool that tells the time by now, time.Now if nil.
func NewPool(now func() time.Time) *Pool {
	if now == nil {
		now = time.Now
	}
	return &Pool{now: now, byName: map[string]*list.Element{}, byNumber: map[int]*list.Element{}, byUse: list.New()}
}

// Addresses gives the addresses of a name, which is in lower case and without
// the dot at its end, and counts as a use. When the pool is full, the name
// whose last use is longest ago makes room if that is more than keepTime ago;
// else it is [ErrFull].
func (p *Pool) Addresses(name string) (v4, v6 netip.Addr, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	e, known := p.byName[name]
	if !known {
		if e, err = p.add(name, now); err != nil {
			return netip.Addr{}, netip.Addr{}, err
		}
	}
	p.use(e, now)
	v4 = four(e.Value.(*entry).number)
	return v4, six(v4), nil
}

// Name gives the name that an address of the pool stands for, and counts as a
// use. It is false for every other address.
func (p *Pool) Name(a netip.Addr) (string, bool) {
	i, ours := number(a)
	if !ours {
		return "", false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	e, known := p.byNumber[i]
	if !known {
		return "", false
	}
	p.use(e, p.now())
	return e.Value.(*entry).name, true
}

// use notes a use. A clock that goes back takes none away.
func (p *Pool) use(e *list.Element, now time.Time) {
	if x := e.Value.(*entry); now.After(x.used) {
		x.used = now
	}
	p.byUse.MoveToFront(e)
}

func (p *Pool) add(name string, now time.Time) (*list.Element, error) {
	if len(p.byName) >= MaxNames {
		oldest := p.byUse.Back()
		x := oldest.Value.(*entry)
		if now.Sub(x.used) <= keepTime {
			return nil, fmt.Errorf("%q: %w: %d within %v", name, ErrFull, MaxNames, keepTime)
		}
		p.byUse.Remove(oldest)
		delete(p.byName, x.name)
		delete(p.byNumber, x.number)
	}
	for p.byNumber[p.next] != nil {
		p.next = (p.next + 1) % addresses
	}
	x := &entry{name: name, number: p.next}
	p.next = (p.next + 1) % addresses
	e := p.byUse.PushFront(x)
	p.byName[name], p.byNumber[x.number] = e, e
	return e, nil
}
