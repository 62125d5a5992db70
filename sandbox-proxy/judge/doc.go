// Package judge decides what a sandbox may call. Every way out asks it, and
// nothing else decides: a CONNECT, a plain http request, a SOCKS call, a
// connection that nftables sent to the proxy, a name asked of the DNS.
//
// Start with [New] and [Judge.Judge]. A [Judge] never changes and may be asked
// by many at once; it opens no socket of its own, and all it knows of the
// machine comes from a [System].
//
// It promises that nothing is allowed that no rule names; that a name is
// resolved once, and only when a rule admits it; that one refused address
// refuses the name; and that the addresses it gives are all it judged, so that
// who dials them dials what was judged. It does not see what is said on a
// connection: [Decision.Expect] says what must be spoken there, and the proxy
// holds the program to it.
package judge
