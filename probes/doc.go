// Package probes has the probes of "lnk sandbox check": small attempts, made
// from inside a sandbox, to do what its confinement closes and what it opens,
// and what each of them shows.
//
// Start with [Start], which lays out what is tried for outside (files, listeners
// and a process that are there, so that a closed door is told from an empty
// room), [For], which gives the probes of a confinement, and [Inside], which
// makes their attempts. [Probe.Judge] says what an attempt shows, in the six
// words of the contract: [Blocked], [Allowed], [Failed], [Open], [Missed],
// [Leaked].
//
// It promises that an attempt that gets through does no harm: what it makes it
// takes away, what it opens it does not change, and what it calls is a listener
// of this package, but for hosts, ports and metadata addresses, to which a
// connection is opened and nothing is said. It shares no code with what it tries,
// and a test makes every attempt with no wall, where each must get through.
//
// Its limits: a probe tries one way to do a thing, not all. What is closed for
// want of a right that this user has nowhere (writing /etc as an ordinary user)
// is blocked, whoever closed it. It is for Linux: elsewhere every probe is missed.
package probes
