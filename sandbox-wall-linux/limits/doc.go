// Package limits bounds what a sandbox uses of the machine: its memory, its
// processes and its share of the processors, all of it together, by a cgroup
// of its own (cgroups(7)).
//
// Start with [Make], which makes one where it may, and [Group.Hold], which puts
// the sandbox's first process into it before the program is started. [Sweep]
// removes groups whose makers were killed.
//
// What a cgroup cannot hold here is held by a resource limit of each process
// (setrlimit(2)) where there is one; [Group.Notes] says what is held less than
// it was asked for, and what is not held at all.
//
// Limits: a resource limit of memory counts what a process has written to
// memory of its own, not what it shares, and each process alone; one of
// processes counts those of the user in the sandbox's own user namespace, since
// Linux 5.14, and is not kept for root.
package limits
