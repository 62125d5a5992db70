// Package blank is a proxy before it is anybody's: [Listener] answers every
// call with a 503, and [Control.Serve] waits on a socket for the one line that
// says what the proxy is to be (a bind).
//
// Start with [NewListener], which a proxy can serve as it is once
// [Listener.Open] was called, and [Control.Serve].
//
// It promises that nothing is dialled, resolved or let through before a bind
// succeeded; that a bind which fails leaves it as it was; that there is one bind
// and no second; and that only who may bind is read from, which is asked of the
// connection itself.
//
// Limits: whoever may bind is trusted with all that a proxy can be. What a call
// says before the bind is read no further than its head and thrown away.
package blank
