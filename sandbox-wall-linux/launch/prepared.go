package launch

import (
	"errors"
	"strings"
)

// ErrChanged is that something was swapped between looking at it and using it.
// Trying again is safe.
var ErrChanged = errors.New("changed since it was looked at")

// ErrNotNamed is why a program is not executed that is not among those that
// may be.
var ErrNotNamed = errors.New("is not one of the commands that may be executed, or what it is started by is not")

// What the step before bubblewrap says, where bubblewrap would say something
// of itself, when it could not become it.
const (
	saysFailed  = "prepare: "
	saysChanged = "changed: "
)

// readFailed reads what the step before bubblewrap said, or gives nil.
func readFailed(says string) *Error {
	if why, ok := strings.CutPrefix(says, saysFailed); ok {
		return setupError("the sandbox could not be set up", errors.New(why))
	}
	if why, ok := strings.CutPrefix(says, saysChanged); ok {
		return setupError(strings.TrimSuffix(why, ": "+ErrChanged.Error()), ErrChanged)
	}
	return nil
}
