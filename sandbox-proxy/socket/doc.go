// Package socket makes the TCP connections of a proxy: those that it dials, and
// those that it accepts. Each is a net.Conn, with CloseWrite and SetLinger.
//
// Start with [Dial], and on Linux [Listen]. There, package net asks the kernel
// a dozen things of each connection that a proxy has no use for, such as the
// addresses of both its ends, and has a goroutine wait for a dial to be given
// up. Nothing of that is done here: a tunnel costs a tenth less processor time.
package socket
