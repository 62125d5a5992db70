// Package labtest gives tests a small internet of their own: a network
// namespace that stands for this machine, another that stands for the world,
// and a cable between them. No packet leaves the machine.
//
// A test package calls [Main] from its TestMain: the test binary starts itself
// again inside the lab, as root or as an ordinary user, and its tests run
// there. [CA], [Queries] and [Requests] tell what the world holds and was asked. The
// lab needs ip(8) from iproute2 and git.
//
// The world's addresses are of the documentation blocks (RFC 5737), its names
// end in .test (RFC 6761).
package labtest
