// Package inbox takes packets from a socket and answers who sent them, many in
// one turn where the system can. It sends nothing to anybody else.
package inbox
