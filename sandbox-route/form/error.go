package form

import (
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrRequest is what every refusal of a form wraps: the one who wrote the
// form has to change it. A command ends with status 2 on it.
var ErrRequest = errors.New("the request is refused")

// Error is a refusal of one member of a form.
type Error struct {
	// Pointer is the member's place, a JSON pointer (RFC 6901): "/net/host/ports/0".
	// Empty is the whole value.
	Pointer string
	// Problem is what is wrong with it: one line, no full stop, no secret.
	Problem string
}

// Error gives "<pointer>: <problem>", on one line whatever the pointer holds.
func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Problem
	}
	return OneLine(e.Pointer) + ": " + e.Problem
}

// Unwrap gives [ErrRequest].
func (e *Error) Unwrap() error { return ErrRequest }

// Refuse makes the error of a value as a whole; [At] and [Each] say where it is.
func Refuse(problem string) error { return &Error{Problem: problem} }

// At says that err, if it is one, is of the member called name.
func At(name string, err error) error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return &Error{Pointer: "/" + escapeToken(name) + e.Pointer, Problem: e.Problem}
	}
	return &Error{Pointer: "/" + escapeToken(name), Problem: err.Error()}
}

// AtIndex says that err, if it is one, is of item i.
func AtIndex(i int, err error) error { return At(strconv.Itoa(i), err) }

// First gives the first error among errs.
func First(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Each checks every item of a list, and says which one a refusal is of.
func Each[T any](items []T, check func(T) error) error {
	for i, item := range items {
		if err := check(item); err != nil {
			return AtIndex(i, err)
		}
	}
	return nil
}

// quotedMax is how much of a value an error repeats, in bytes.
const quotedMax = 120

// Quote gives a value as an error shows it: quoted, on one line, shortened.
// It is never given a secret.
func Quote(s string) string {
	if len(s) > quotedMax {
		cut := quotedMax
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		return strconv.Quote(s[:cut]) + "…"
	}
	return strconv.Quote(s)
}

// escapeToken writes a member's name as a pointer has it (RFC 6901 section 3).
func escapeToken(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// OneLine shortens text for an error, and keeps what a stranger wrote in it
// from starting a line of its own or driving a terminal.
func OneLine(s string) string {
	if len(s) > 4*quotedMax {
		s = s[:4*quotedMax] + "…"
	}
	plain := func(r rune) bool { return r != utf8.RuneError && unicode.IsPrint(r) }
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if plain(r) {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRuneToASCII(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}
