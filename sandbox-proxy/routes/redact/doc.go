// Package redact takes a secret's value out of what comes back from a host.
//
// Start with [New], [Redactor.String] for a header and [Stream.Next] for a
// body. Where the value stands, the placeholder that the program has for it
// stands instead, written in the same way and as long.
//
// It knows the ways in which servers that echo write a text, each character in a
// way of its own: as it is; escaped as in an address (%2F, %2f, any character,
// and escapes of escapes), in JSON and in programs (\u002f, \x2f, \/, in any case
// and behind more backslashes), in HTML (by name and by number, and escapes of
// escapes), and in quoted-printable, broken into lines; in UTF-16 and UTF-32 where
// it is of ASCII; in hexadecimal, in any case, with what dumps and lists put
// between the bytes; and in base64 of both alphabets, whatever stands before it
// and behind it, broken into lines, and itself escaped.
//
// It promises that it finds these wherever a body is cut, that what it holds
// back may be the beginning of one, and nothing where the last byte begins none.
//
// Its limits: it knows no other way of writing. A host that turns the value
// around, that changes the case of its letters, that gives it in pieces with
// something else between them, in octal or in decimal bytes, in base32, or that
// compresses or encrypts it can say it; so a host is trusted with the secret it
// is sent. Of letters beyond ASCII it knows what JSON, addresses and HTML have.
package redact
