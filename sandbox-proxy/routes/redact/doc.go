// Package redact takes a secret's value out of what comes back from a host.
//
// Start with [New], [Redactor.String] for a header and [Stream.Next] for a
// body. Where the value stands, the placeholder that the program has for it
// stands instead, in the same form: as it is, escaped as in an address, in JSON
// or in HTML, in hexadecimal, and in base64 whatever stands before it and
// behind it.
//
// It promises that it finds these forms wherever a body is cut, that what it
// holds back is at most one byte less than the longest form, and nothing where
// the last byte begins no form.
//
// Its limits: it knows no other form. A host that turns the value around, that
// gives it in pieces with something between them, or that compresses or
// encrypts it can say it; so a host is trusted with the secret it is sent.
package redact
