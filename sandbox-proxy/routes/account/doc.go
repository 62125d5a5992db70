// Package account knows by which names requests carry credentials, on some host
// or other. On a host that a credential is added for, a program must not use an
// account of its own: what it sends there would be its own to read later. Start
// with [Header] and [Query].
//
// Its limit: it is a list. A host that reads credentials from a name of its own,
// or from a body, is not known.
package account
