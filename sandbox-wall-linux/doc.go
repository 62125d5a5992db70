// Package linuxwall decides what the wall around a program is on Linux: which
// files of this machine it sees, which of them it can change, and what it has
// in place of the rest. bubblewrap makes it; packages seccomp and landlock keep
// the kernel's own ways around it closed; package stubs holds names that must
// not be made; package launch starts it.
//
// Start with [ReadFacts], which looks at the machine, and [PlanFor], which
// turns a confinement and the facts into a [Plan] without touching anything.
// Then [Plan.Make] and [Plan.Wants] are done, [Open] opens what is bound, and
// [Plan.BwrapArgs] is what bubblewrap is told. [Plan.Explain] and [Plan.Lookup]
// say what a plan does, and why. [Args] and [ParseArgs] carry a confinement to
// the stage that does all this.
//
// What it promises:
//
//   - Nothing is in view but what every sandbox has and what is named. Of what
//     is named for one path the deepest decides; what is hidden is closed but
//     for what write and read name in it; the settings are closed whatever is
//     named, by every name that a mount gives them.
//   - What is bound is the file that was looked at: it is opened without
//     following a link, checked, and bound by descriptor. A path that passes a
//     link in a write folder is refused, since an earlier run can have put it
//     there.
//   - What is covered stays where it is covered: each folder above it that the
//     program could rename is a mount point, which it cannot.
//   - Sockets of this machine that lie in what is opened cannot be connected
//     to.
//   - Root's sandbox reads nothing that only root may read of the system's
//     configuration, and cannot change this machine's kernel through /proc.
//     Where the configuration is shown as others see it ([Step.Others]), that
//     holds for what comes there later too.
//   - What cannot be held is refused ([ErrRefused]), or said in [Plan.Notes].
//
// Limits: what is replaced or removed from outside while the program runs loses
// its cover inside, see [Covers]: then the run is to be ended. A socket that is made in an opened folder
// after the start is not covered, nor is one in a folder opened to read that is
// not where it was bound. Below the top of a write folder repositories are
// looked for in bounded time, and new ones can be made: see [Below]. A hard
// link made before the start is another name of a file, which is looked for in
// bounded time where the file is kept. Another sandbox of the same user with a
// wider write folder can move what this one covers, which ends the run. git
// commands that go on with what the program left half done (a rebase with exec
// lines) run it. Root's program can make a file of a write folder set-user-id.
package linuxwall
