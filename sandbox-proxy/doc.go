// Package proxy is a sandbox's only way to the network.
//
// Start with [New] and [Proxy.Serve]. A [Proxy] answers on listeners that it
// is given, in the sandbox's network or on this machine's loopback: HTTP
// CONNECT, plain http and SOCKS5 on one port ([Proxy.Serve]), connections that
// were meant for another address ([Proxy.ServeTransparent]), and ports of this
// machine's loopback ([Proxy.ServePort]).
//
// It promises that every call is put to one judge (package judge), once a
// request; that it dials only addresses that were judged, and nothing before;
// that a request whose framing two readers could read differently is refused;
// that a refusal says so at once and in words; that no TLS of the program's is
// opened (it opens its own where a request names https and no CONNECT was sent);
// and that [Proxy.Close] ends every connection and goroutine of its own.
//
// Its limits: what is said inside TLS is not seen, so a host that is allowed
// can be a front for another one behind the same server; and with an upstream
// it is the upstream that resolves names and dials.
package proxy
