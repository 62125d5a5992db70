package probes

import "fmt"

// A Word is what a probe shows.
type Word string

// The words of a check.
const (
	// Blocked: the confinement closes it, and it could not be done.
	Blocked Word = "blocked"
	// Allowed: the confinement opens it, and it was done.
	Allowed Word = "allowed"
	// Failed: the confinement opens it, and it could not be done.
	Failed Word = "failed"
	// Open: the confinement neither closes nor names it, and it was done.
	Open Word = "open"
	// Missed: the confinement closes it, and it could not be tried here, so
	// that nothing is known.
	Missed Word = "missed"
	// Leaked: the confinement closes it, and it was done.
	Leaked Word = "leaked"
)

// A Want is what a confinement says of what a probe tries.
type Want uint8

const (
	// Closes is what must not be done.
	Closes Want = iota
	// Opens is what the confinement names.
	Opens
	// Leaves is what it neither closes nor names, as host leaves the network.
	Leaves
)

// A Probe is one thing that is tried.
type Probe struct {
	// Name says what is tried, with the path, host or port of it.
	Name string
	Want Want
	// Attempt is what is done, inside.
	Attempt Attempt
	// Missing is why it cannot be tried on this machine. Empty is none.
	Missing string
}

// A Result is what came of an attempt.
type Result struct {
	// Did says that it was done.
	Did bool
	// Untried says that it could not be tried.
	Untried bool
	// Detail is what was seen, in a few words.
	Detail string
}

// A Line is one line of a check.
type Line struct {
	Word Word
	Name string // the probe's
	// Detail is what was seen, in a few words.
	Detail string
}

// String is the line as it is printed: word, probe, detail.
func (l Line) String() string { return fmt.Sprintf("%s %s: %s", l.Word, l.Name, l.Detail) }

// Judge says what a result shows of a probe.
func (p Probe) Judge(r Result) Line {
	if p.Missing != "" {
		r = Result{Untried: true, Detail: p.Missing}
	}
	l := Line{Word: Blocked, Name: p.Name, Detail: r.Detail}
	switch {
	case p.Want == Opens && r.Did:
		l.Word = Allowed
	case p.Want == Opens:
		l.Word = Failed
	case r.Untried:
		l.Word = Missed
	case r.Did && p.Want == Closes:
		l.Word = Leaked
	case r.Did:
		l.Word = Open
	case p.Want == Leaves:
		l.Word = Failed
	}
	return l
}
