// Package shim is what runs inside under a tool's name: it makes the call of
// the tool outside, and is in its place while that runs.
//
// Start with [Called], which says by what name this process was started, and
// [Call.Run]. Input, output, errors, signals, the window's size and the exit
// status are carried as they come (package frame); a terminal inside has one
// outside. Opening a page is a call of its own.
//
// It promises nothing to the host: all that it says is judged there. It loads
// no HTTP library, no resolver of names and no command line, since it starts at
// every call: it speaks the one request that it makes, to an address on the
// loopback that its environment names in numbers. [Binary] is it alone.
package shim
