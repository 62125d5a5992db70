// Package client is the contract of lnk sandbox for programs that use it: what
// a sandbox is, and what is said to and by the commands that make one.
//
// Start with [Of], which makes a [Confinement] of a [Spec] that a person or a
// plugin keeps, and [Wrap], which gives the command that runs a program in it.
// The sandbox decides only what the program may touch; what runs, where and
// with which environment stays its caller's.
//
//	base, err := client.BaseFor(folderOfTheSpec)
//	confinement, err := client.Of(spec, base)
//	wrapped, err := client.Wrap(ctx, confinement, argv)
//	// run wrapped.Argv with one's own environment and wrapped.Env
//
// Every form of the contract has a type, a Read and a Write function, and a
// Check method. What is read is judged; so is what is written, before the
// first byte of it. It is strict: a member that is unknown, repeated, of
// another case or another type, missing, null, or out of range is refused, and
// so is anything after the value and more than 1 MiB. The refusal is an
// [*Error], which names the member as a JSON pointer, or a [*SpecError], which
// names a spec's key; both wrap [ErrRequest], and neither repeats a secret.
// What was read is written the same, members in the contract's order.
//
// What it observes of running sandboxes ([WiresNow], [TrafficNow]) it reads
// afresh and changes nothing by reading; what cannot be read is
// [ErrUnavailable], never open.
//
// It confines nothing by itself: a value that passes Check can be made into a
// sandbox on some machine, and whether on this one is said when it is wrapped
// and started. It opens no socket and starts no process but in [Wrap],
// [WrapUnwalled], [BindProxy] and [HoldPort].
package client
