// Package hello reads the server name of a TLS ClientHello from its bytes.
//
// Start with [Parse]. It reads what RFC 8446 section 4.1.2 and RFC 6066
// section 3 allow and nothing wider: a hello that two readers could read
// differently (two names, two extensions of a kind, a length that does not
// fit) is refused. It never needs more than [MaxBytes]. It opens nothing: the
// name is what a client sends in the clear, and with Encrypted ClientHello it
// is the outer one. [Again] watches what follows it for a second hello.
package hello
