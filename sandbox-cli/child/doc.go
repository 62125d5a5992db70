// Package child is what every process of a start does for the one that it
// starts and waits for: [Hold] catches the signals that are passed on to it,
// [CloseOnExec] keeps the caller's descriptors from it, and [Reap] gives its
// status in the shell's form. Linux only.
package child
