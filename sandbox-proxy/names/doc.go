// Package names gives the names that a confined program may reach addresses of
// their own, and answers its DNS with them.
//
// A [Pool] keeps one IPv4 and one IPv6 address a name, out of blocks that no
// other network uses. A [Server] answers queries: an allowed name with its
// addresses, one above an allowed name with no data, every other name with
// NXDOMAIN at once. When the program connects
// to such an address, [Pool.Name] says which name it meant, whatever protocol
// it speaks, and the proxy judges and resolves that name itself. So start with
// [NewPool] and [Server.ServeUDP].
//
// What it promises: no query is ever sent anywhere, for an allowed name or a
// denied one; nothing in this package can resolve or dial. An address is kept
// for its name for an hour past its last use and given to no other in that
// time. Whatever arrives, the server does not panic, holds a bounded number of
// connections and of queries, and answers no message that is itself an answer.
//
// Limits. Whether a name exists is not known before the program connects, so
// an allowed name that does not exist has addresses too. Only addresses, and
// names of these addresses, are given: any other type of an allowed name has
// no data, SVCB and HTTPS among them, since they carry addresses and keys that
// would go past the proxy. Names are matched by the function in
// [Server.Allowed], not here. It is no resolver and no server for a zone.
package names
