package inside

import (
	"errors"
	"fmt"
)

// Step names one part of making the program's network.
type Step string

// The steps, in their order.
const (
	StepStart     Step = "start"       // outside: the process in its namespaces
	StepControl   Step = "control"     // the socket between outside and inside
	StepNamespace Step = "namespace"   // is it a new one, with nothing in it
	StepLinks     Step = "links"       // loopback, addresses, routes
	StepListen    Step = "listen"      // the listeners
	StepRules     Step = "rules"       // nftables
	StepReadBack  Step = "read back"   // are the rules what was asked for
	StepHandOver  Step = "hand over"   // descriptors on their way out
	StepSeal      Step = "seal"        // capabilities given up
	StepWait      Step = "wait for go" // until the proxy is ready
)

var (
	// ErrForbidden says that this machine does not let the user make a user
	// or network namespace.
	ErrForbidden = errors.New("user namespaces are forbidden here")
	// ErrGone says that the other side of the control socket ended.
	ErrGone = errors.New("the other side ended")
	// ErrNotRedirected says that a connection was made to the transparent
	// listener itself and so has no other destination.
	ErrNotRedirected = errors.New("it was not meant for another address")
	// ErrMismatch says that the kernel holds other rules than were asked for.
	ErrMismatch = errors.New("the kernel holds other rules")
)

// A StepError says which step failed, on what, why, and, where there is
// something to do about it, what. One that happened inside reaches the outside
// with its errno kept.
type StepError struct {
	Step Step
	What string // the object: an address, a port, a request; may be empty
	Err  error
	Hint string // what to do about it; may be empty
}

func (e *StepError) Error() string {
	s := "network inside: " + string(e.Step)
	if e.What != "" {
		s += ": " + e.What
	}
	s = fmt.Sprintf("%s: %v", s, e.Err)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

func (e *StepError) Unwrap() error { return e.Err }

// failed is nil for a nil err.
func failed(step Step, what string, err error) error {
	if err == nil {
		return nil
	}
	return &StepError{Step: step, What: what, Err: err}
}
