// Package form reads and writes the JSON forms of the lnk sandbox contract.
//
// Two programs that read one request differently are a way out of a sandbox:
// what one of them checks is not what the other enforces. So there is one
// reader. Start with [Read], which reads one value of at most [MaxBytes]
// through a description of its shape made of [Object], [List], [String] and
// the rest, and with [Append], which writes one.
//
// What it refuses, naming the member as a JSON pointer (RFC 6901): members it
// does not know, one given twice, another spelling's case, a member that must
// be there and is not, a value of another type (null is one), invalid UTF-8,
// and anything after the value. It reads as the shape says and never further:
// how deep it goes and what it keeps are bounded by the shape, not by what it
// is sent.
//
// Reading judges shapes. The values, which a Go program can also set without
// reading anything, are judged by the checks of check.go, composed with [At]
// and [Each]. Neither ever repeats a value that may be a secret.
package form
