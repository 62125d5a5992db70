package linuxwall

import (
	"errors"
	"strconv"
	"strings"
)

// ErrRefused is what every refusal of this package wraps: the wall cannot be
// made as it was asked for, and nothing was started.
var ErrRefused = errors.New("refused")

// A Refusal says which part of a confinement, or of this machine, is in the
// way, and why.
type Refusal struct {
	// Member is the confinement's member ("write"), or what else it is about
	// ("settings", "bubblewrap").
	Member string
	// Path is the entry, or empty.
	Path string
	// Why says what is wrong and what to do about it.
	Why string
	// Err is the cause, or nil.
	Err error
}

func (r *Refusal) Error() string {
	var b strings.Builder
	b.WriteString(r.Member)
	if r.Path != "" {
		b.WriteString(": ")
		b.WriteString(shown(r.Path))
	}
	b.WriteString(": ")
	b.WriteString(r.Why)
	return b.String()
}

// Unwrap gives [ErrRefused] and the cause.
func (r *Refusal) Unwrap() []error {
	if r.Err == nil {
		return []error{ErrRefused}
	}
	return []error{ErrRefused, r.Err}
}

func refuse(member, path, why string, cause error) error {
	return &Refusal{Member: member, Path: path, Why: why, Err: cause}
}

// shown is a path as a person reads it: as it is where that is plain, else
// quoted, so that no path can write control bytes to a terminal or end a line.
func shown(path string) string {
	for i := range len(path) {
		if c := path[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return strconv.Quote(path)
		}
	}
	return path
}
