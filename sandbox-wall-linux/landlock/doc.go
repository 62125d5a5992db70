// Package landlock keeps what runs in the sandbox from reaching two things that
// no mount hides: unix sockets without a file (abstract ones), where the
// network is the host's, and processes outside, by signals, where the terminal
// is shared and so the process group is.
//
// Start with [Scope], which restricts the calling thread and what it starts,
// and [ABI], which says how much of Landlock the kernel has.
//
// They are the scopes of Landlock and none of its rights on files: a ruleset
// with those forbids every mount, and bubblewrap's are made behind it. It is
// put on before bubblewrap for that reason, and so that bubblewrap's own
// processes are behind it too.
//
// [Execute] is put on inside, by the last step before the program, and says
// which files may be executed at all.
//
// Limits: scopes came with ABI 6 (Linux 6.12). On an older kernel [Scope] does
// nothing and says so in [Scoped]; it is for the caller to refuse or to report.
// Landlock cannot be taken off again: use a thread that ends. Let it not be the
// process' first one, by which the kernel judges who may signal the process:
// what runs in the sandbox is restricted alike, and so could.
package landlock
