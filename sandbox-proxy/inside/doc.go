// Package inside makes the network that a confined program sees, and hands its
// listeners to the proxy outside: descriptors cross the wall, bytes do not.
//
// The proxy starts with [Prepare], which lets a command begin in a user and a
// network namespace of its own, and then, in this order, calls
// [Handover.Start], [Handover.Receive] and [Handover.Go]. The command is the
// stage that calls [Enter] there: it brings loopback up, gives it addresses
// and default routes, opens the listeners, installs its nftables rules and reads them
// back, sends the listeners up, gives up its capabilities, waits to be told to
// go on, and returns; its caller then executes the wall, in the same process.
//
// With [PrepareHanded] no process is started in the namespace: who makes a
// sandbox hands sockets of its network out ([Want.Handed], [Hand]), and
// [Handover.Receive] does all of the above with them, from outside;
// [Handover.Starting] then waits for the sandbox. A start is shorter by a
// process, and what it does is done beside the rest of the start.
//
// With [Want.Sockets] the command does not go on in its own place: it stays,
// and makes sockets of its network for [Sockets.Dial], which connects to what
// the program listens on.
//
// What holds once [Handover.Receive] has returned:
//
//   - the namespace has one interface, loopback, so that nothing leaves it but
//     through the listeners, and those are accepted on outside only;
//   - a TCP connection to any address that is not loopback's, or to those that
//     [Want.To] names, arrives at [Listeners.Transparent], where [OriginalDst]
//     says what it was meant for;
//   - DNS to any address, over UDP and TCP, arrives at [Listeners.DNSPackets]
//     and [Listeners.DNSStreams];
//   - everything else is refused at once, never left to time out;
//   - nothing that runs in the namespace from then on can change any of that
//     (of a network that was handed out, who made its sandbox sees to it): an ordinary user's process has no capability left and cannot gain one,
//     root's has lost CAP_NET_ADMIN and CAP_NET_RAW from its bounding set, and
//     a user namespace made below has no say over this network namespace;
//   - the process, and what it executes, is killed when the thread that
//     started it ends.
//
// Limits. Root keeps its other capabilities, in its own user namespace only,
// because bubblewrap needs CAP_SETFCAP to map uid 0 again (Linux 5.12); the
// wall gives them up. IPv6 is there when the kernel has it and is otherwise
// reported as absent in [Listeners.IPv6]. The rules answer for what the
// program can reach, not for what the proxy lets through: that is the proxy's
// judge. [Enter]'s caller has to execute the wall from the same goroutine: as
// root, and in a program built with cgo, the other threads are not sealed.
// Linux only: elsewhere every function fails with [errors.ErrUnsupported].
package inside
