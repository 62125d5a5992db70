//go:build !linux

package shim

import (
	"os/signal"
	"syscall"
)

// unhandle has SIGQUIT print nothing, at which Go's runtime would print every
// goroutine; the status says the rest.
func unhandle(s syscall.Signal) {
	if s == syscall.SIGQUIT {
		signal.Ignore(s)
	}
}
