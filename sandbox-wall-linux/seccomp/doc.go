// Package seccomp writes the system call filter of the wall: what a program
// inside may not ask of the kernel, whatever files it sees.
//
// Start with [Program], whose bytes are what bubblewrap's --seccomp reads, and
// with testdata/amd64.txt, which says the same to people. It is pure and the
// same on every system: the numbers of the calls are in tables, for amd64 and
// arm64.
//
// The filter is a list of what is closed, because programs are many and what
// attacks a kernel is known. What it promises:
//
//   - Only calls of the machine's own architecture pass. One of another
//     (32-bit, by int 0x80) ends the process; x32's numbers do not exist.
//   - A call that the tables do not name does not exist (ENOSYS), so that what
//     a later kernel brings stays closed until somebody looked at it.
//   - No namespaces, mounts, modules, BPF, perf, keyrings, io_uring, file
//     handles, clock or quota setting; sockets of UNIX, IPv4, IPv6 and netlink
//     only, and of those no raw ones and few protocols; nothing typed into a
//     terminal for somebody else.
//   - Arguments are compared by their low 32 bits where the kernel looks at no
//     more, so that rubbish in the high half hides nothing.
//
// Limits: a filter sees numbers, not what pointers point to. Paths, addresses
// and the flags of clone3 and openat2 are invisible to it, which is why clone3
// does not exist and why files are the business of mounts. Calls that only
// touch the program itself are left open.
package seccomp
