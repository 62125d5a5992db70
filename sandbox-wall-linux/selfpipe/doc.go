// Package selfpipe catches signals with a pipe that the process writes to
// itself: a handler puts the signal's number into it, and a goroutine reads it.
//
// It is [os/signal.Notify] for where a start or an end is waited for. There,
// each signal that is asked for, or asked for no longer, takes two turns of a
// goroutine that has a thread of its own (sigenable in runtime/signal_unix.go of
// Go 1.26): ten signals take a millisecond on a slow machine, and here two calls
// of rt_sigaction(2) each.
//
// Who uses it for a signal uses nothing of os/signal for the same one: of the
// two, who asked last has it.
//
// [Suspend] stops a process that catches what is typed to stop it.
//
// Limits: on machines other than amd64, and where no pipe can be made, it is
// os/signal itself.
package selfpipe
