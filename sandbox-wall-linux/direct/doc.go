// Package direct makes a sandbox by the kernel's own calls, without bubblewrap.
//
// Start with [Begin], which makes the namespaces and the first process in them,
// and [First.Build], which says what is to be seen there and which program is
// started once [First.Go] lets it. Between the two the caller looks at the
// machine, while the kernel makes what takes it longest.
//
// How it works: all that the first process will do is written down as a list of
// system calls (see script), in memory that it shares with its parent. The
// process is cloned and goes through the list; it executes nothing, so that a
// sandbox costs one start of a Go program and not two, and runs no Go but the
// loop over the list: no allocation, no lock, no goroutine. It shares all memory
// with its parent, as after vfork(2), and has a stack of its own: copying it
// would cost a third of a start. A call that fails ends it and is told by its
// place in the list.
//
// [AtEnd] is another such process, outside of every sandbox: what has to be done
// when this one is killed. So is [Guard]: what has to be seen while this one is
// stopped.
//
// What it promises:
//
//   - Nothing of this machine is changed: a mount point is made only in file
//     systems of the sandbox's own. Elsewhere it has to be there.
//   - Every path is opened with openat2(2) and passes no link, on either side; a
//     link that is bound on itself, to stay, is opened as one. What is bound is
//     what the plan saw, by device and inode, or nothing is started
//     ([linuxwall.ErrChanged]). What is compared is the very descriptor that is
//     mounted, so that there is no moment to swap it in.
//   - Mounts are made complete before they are attached: read only, without
//     devices and set-user-id, with all that is mounted below them.
//   - They are private: what is mounted on this machine later does not appear.
//   - A folder that is shown as others see it is mounted so that nobody owns
//     anything there: root's sandbox reads what everybody may, by the files' modes
//     as they are at that moment ([System]). Such a mount takes root of the
//     machine itself: it is made outside, and handed to the first process.
//   - The first process is in a user namespace between this machine's and the
//     program's, so that the program can neither trace it nor undo a mount, and
//     no further user namespace can be made in it (user_namespaces(7),
//     max_user_namespaces). It has no signal handler, and /proc hides it.
//   - The program has no capability, cannot gain one, is behind Landlock's scopes
//     and under the filter before its first instruction.
//   - It starts only while its parent lives, and when that, or the first process,
//     ends, so does everything.
//
// What shares its memory the kernel kills together for want of memory: a sandbox
// whose memory is bounded is a copy instead (Early.Apart).
//
// Limits: it needs Linux 5.12 (mount_setattr(2)) and user namespaces; where
// these are not to be had, [ErrUnavailable] says so and bubblewrap may be.
package direct
