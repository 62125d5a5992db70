// Package formtest holds a form's reader and writer to cases kept in a file
// that people can read. Start with [Golden], and with [Fuzz], which takes its
// seeds from the same file.
//
// A file has one form's cases. A line "-- <name>" starts one; what follows is
// its input, down to the line with its outcome: "-> " and what is written of
// what was read, or "!! " and why it is refused. Lines before the first case
// are for the reader. The flag -update writes the outcomes anew, to be read
// before they are kept.
//
// It promises that a case with no outcome, or with another one, fails. It is
// for tests only.
package formtest
