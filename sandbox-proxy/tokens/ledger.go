package tokens

import (
	"sync"

	measure "github.com/lnkhq/lnk-sandbox/measure-contract"
)

// A Ledger sums up answers. Its zero value is empty; it may be used by many
// goroutines at once.
type Ledger struct {
	mu  sync.Mutex
	sum measure.Tokens
}

// Answered counts one request that was answered, with what the answer used
// where it was metered.
func (l *Ledger) Answered(u Usage, metered bool) {
	one := measure.Tokens{Requests: 1, Unmetered: 1}
	if metered {
		one = measure.Tokens{Requests: 1, Input: u.Input, Output: u.Output, Cached: u.Cached, Written: u.Written}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sum.Add(one)
}

// Tokens is what was counted so far.
func (l *Ledger) Tokens() measure.Tokens {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sum
}
