// Package tunnel moves bytes between two connections, both ways, until both
// ways have ended.
//
// Start with [Tunnel.Run], or [Tunnel.Start], and [Tunnel.Cut]. The end of one way is passed on
// and the other goes on (TCP's half-close); a reset is passed on as a reset.
// Silence is allowed for [Tunnel.Idle]; once one way has ended, the other may
// be silent for [Tunnel.Drain] only, so that a far side that never closes does
// not hold a connection whose program has left.
//
// It promises that bytes arrive in order and whole, those already read before
// the tunnel first; that a [Meter] has every byte that was delivered, at once;
// and that a tunnel that waits holds two sockets and no buffer or pipe. On
// Linux a stream that moves much is spliced through a pipe lent from a pool:
// io.Copy keeps two pipes of 1 MiB a tunnel, of which an ordinary user may have
// only 64 before the kernel makes them 8 KiB (pipe-user-pages-soft, pipe(7)).
//
// It is not for connections whose bytes somebody wants to see.
package tunnel
