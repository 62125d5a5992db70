package landlock

import (
	"fmt"
	"strings"
)

// Scopes of <linux/landlock.h>, both since ABI 6.
const (
	scopeAbstractSockets = 1 << 0
	scopeSignals         = 1 << 1

	scopeABI = 6
)

// ExecuteABI is the version that [Execute] needs: the first, of Linux 5.13, has
// the right but no way to leave files movable between folders; the second came
// with 5.19.
const ExecuteABI = 2

// Scoped is what was closed, and what was not.
type Scoped struct {
	_ [0]func()

	// ABI is the kernel's version of Landlock; 0 is none.
	ABI int
	// AbstractSockets: abstract unix sockets that were bound outside cannot be
	// connected to.
	AbstractSockets bool
	// Signals: processes outside cannot be signalled.
	Signals bool
}

// Missing says what was not closed and why, or is empty when all was.
func (s Scoped) Missing() string {
	var open []string
	if !s.AbstractSockets {
		open = append(open, "abstract unix sockets of the host")
	}
	if !s.Signals {
		open = append(open, "signals to processes outside")
	}
	if len(open) == 0 {
		return ""
	}
	why := "the kernel has no Landlock, or it is switched off"
	if s.ABI > 0 {
		why = fmt.Sprintf("the kernel has Landlock %d, and scopes came with %d, in Linux 6.12", s.ABI, scopeABI)
	}
	return strings.Join(open, " and ") + " are not closed: " + why
}

// scopesOf are the scopes that a version of Landlock knows.
func scopesOf(abi int) uint64 {
	if abi < scopeABI {
		return 0
	}
	return scopeAbstractSockets | scopeSignals
}

func scoped(abi int, scopes uint64) Scoped {
	return Scoped{ABI: abi, AbstractSockets: scopes&scopeAbstractSockets != 0, Signals: scopes&scopeSignals != 0}
}
