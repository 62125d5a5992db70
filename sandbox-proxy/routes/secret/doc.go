// Package secret is the bridge of a route to one https host, towards which a
// placeholder is replaced by a value that the program never has.
//
// Start with [New], which is a [routes.Maker]. A request on the route goes to
// the route's host over TLS, and nowhere else. In the one header, or the one
// member of the query, that the route names, the placeholder becomes the value,
// also inside Basic credentials; anywhere else it passes as it is.
//
// It promises:
//
//   - The value goes to that host only, with no header that names another, and
//     only once its certificate was checked. A redirect goes back to the program
//     and is not followed; an address of the host in Location is turned into the
//     route's.
//   - The program uses no account of its own there: where the route's header or
//     member, or another header that carries credentials, holds something
//     else, the request is refused.
//   - With paths, nothing else of the host is asked for: a path is compared in
//     one form, which is the form that is sent, and one that two readers could
//     read differently is refused.
//   - Where an answer holds the value, it holds the placeholder instead, in
//     headers, bodies, trailers and a websocket's messages (package redact).
//     For that the host is asked for no encoding and for no range; gzip and
//     deflate that come all the same are decoded, and other encodings refused.
//   - No error and no record of the bridge holds the value.
//
// Its limits: whoever the host shows the value to, or whoever it lets the
// program write to with the value's rights, is the host's to answer for. An
// account in a body, in a cookie or in a header of the host's own is not seen.
// A value that a host gives back in pieces, or changed, is not found.
package secret
