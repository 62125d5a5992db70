// Package routes mounts a sandbox's routes on its proxy: the ways out beside
// the network, each served by a bridge outside the wall.
//
// Start with [New] and [Bridge]. A kind of route is a [Maker] in [Kinds], by
// the name that the kind has in a route's JSON:
//
//	type Bridge interface {
//		http.Handler
//		Close() error
//	}
//
// A bridge gets the requests of one route. In them URL and RequestURI are what
// follows the mount ("/v1/x?y" of "/<url secret>/secret/api/v1/x?y"),
// Lnk-Caller and Lnk-Caller-Key are what the proxy says and never what the
// program sent, and Proxy-Authorization is gone. Whether the wire is open, how
// many calls there may be, counting, pausing and cutting are done already:
// bytes are counted and held as they pass the writer and the body. What is left
// to a bridge is to end when the request's context does; to call hosts by
// [proxy.Proxy.NewClient] and nothing else; to put other connections of its own
// under [proxy.Proxy.Hold]; and to answer failures by [proxy.Proxy.Answer] and
// [proxy.Proxy.Refuse]. A request that asks for an upgrade, to any protocol but
// h2c, can be hijacked. ServeHTTP may be called from many goroutines; Close is
// called once, after the last.
//
// It promises that a route that needs the URL secret is found under it only,
// compared in constant time whatever its length; that all else is the same 404,
// and that no route is found by a request whose Host is not this machine.
package routes
