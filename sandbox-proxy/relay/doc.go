// Package relay joins listeners to what can be dialled: a port inside to a
// proxy's socket in a folder, and calls that come in by a folder to ports
// inside. It judges nothing; that is the proxy's, at the other end.
//
// Start with [New], [Relay.Carry] and [Relay.ServeIn]. A proxy outside asks for
// a port inside with [DialIn]. [Loopback] listens on both loopbacks.
//
// It moves bytes as a proxy's tunnels do (package tunnel), holds a bounded
// number of connections, passes on the end of each direction by itself, and
// resets what it cannot connect, at once. [Relay.Close] ends every connection
// and goroutine of its own.
//
// Limits: a connection that is carried is no secret from whoever runs the
// relay, and in.sock tells nobody who called. It is free of what is slow to
// start, like the stage that it is part of.
package relay
