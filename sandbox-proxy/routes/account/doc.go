// Package account knows by which names requests carry credentials, on some host
// or other. On a host that a credential is added for, a program must not use an
// account of its own: what it sends there would be its own to read later. Start
// with [Header] and [Query]. It also knows headers that lead a host elsewhere than
// to what was asked for, [Elsewhere], [OtherHost], [OtherMethod] and
// [Shadows], and those that ask for a part of it, [Partial].
//
// Its limit: it is a list. A host that reads credentials from a name of its own,
// or from a body, is not known.
package account
