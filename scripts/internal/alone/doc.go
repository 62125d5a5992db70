// Package alone checks a module as its users will build it: without the
// workspace, which hides a requirement that go.mod lacks.
//
// Start with [Check] and, to mend what it finds in go.mod and go.sum, [Fix].
// The siblings are not released, so a copy of go.mod beside it, alone.mod,
// replaces each by its folder; the copies are removed again. What a check
// cannot see: whether a sibling's released version has what is used of it.
package alone
