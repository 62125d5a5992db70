// Package carry has the bridges that carry HTTP to a server as it comes: the
// API of a model with its key added, a model server on this machine's loopback,
// and what another plugin serves on a unix socket.
//
// Start with [Kinds], which has the makers of all three.
//
// It promises that requests and answers pass as they are, each piece at once,
// trailers, interim answers and upgrades too, but for what this page names;
// that a program's own credentials do not go to a model's API, and the key of
// it does not come back; that who calls is told to plugins and to nobody else;
// and that a plugin's socket is one of this user's or of root's, at the place
// that was meant when the bridge was made.
//
// Where an answer of a model's API holds the key, it holds words of the same
// length instead (package redact), in headers, bodies and a websocket's
// messages. Answers are asked for without compression; one that comes in gzip or
// deflate all the same is passed on without it, and one in another encoding is
// refused, since the key could not be found in it. A key of fewer than 8
// characters is none, and is not looked for.
//
// What is changed: Host is the server's. Location is the route's address where
// it is the server's. A model's API is asked for answers that are not
// compressed, its header is set whatever the program sent, other headers and
// members of the query that hold credentials are taken out, as are headers that
// name another host, path or method, and a path that leads out of its base
// address is refused, as is a request that is known to make another key.
package carry
