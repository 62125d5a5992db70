// Package frame is what a tool's bridge and the program that calls it say to
// each other: small messages, each way in the body of one HTTP request and its
// answer, so that a call goes through anything that carries HTTP.
//
// Start with [Reader.Next] and [Writer.Write]. A call is its words ([Word]),
// its folder, its terminal if it has one, and [Go]; then input, signals and
// window sizes one way, output, errors and how it ended the other. Each stream
// has a window of its own ([Queue], [Window]): one that is not read stops
// itself and nothing else, so a signal is never behind unread input.
//
// It promises that nothing it reads makes it hold more than [MaxPayload] and a
// [WindowSize] a stream. It knows no HTTP and opens nothing: it is loaded at
// every call of a tool, inside.
package frame
