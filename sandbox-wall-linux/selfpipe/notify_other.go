//go:build !(linux && amd64)

package selfpipe

import (
	"os"
	"os/signal"
)

// Notify is [signal.Notify].
func Notify(to chan<- os.Signal, signals ...os.Signal) { signal.Notify(to, signals...) }

// Stop is [signal.Stop].
func Stop(to chan<- os.Signal) { signal.Stop(to) }
