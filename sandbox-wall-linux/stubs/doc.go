// Package stubs takes names for as long as a sandbox runs: names that must not
// be made from inside (.envrc, .git, …) and that nothing has. A mount needs
// something to stand on, so an empty folder, or a small file, is made there on
// the host, covered by the wall, and removed when the last sandbox that needs
// it has ended.
//
// Start with [Store.Hold] before a sandbox and [Held.Release] behind it.
// [Held.File] is a locked file: bubblewrap's --sync-fd keeps it open in the
// sandbox's first process, so that the lock lasts exactly as long as the
// sandbox or its owner does, however either ends. [Store.Sweep], at every
// start, removes what killed runs left; [Store.Await], in a process of its own,
// does so the moment one is killed.
//
// What it promises:
//
//   - Content is never removed. A folder goes by rmdir, which takes only an
//     empty one; a file goes only when it holds what it was made with. What
//     somebody put there stays, and is reported.
//   - Nothing is made or removed but in the very folder that was meant: a
//     folder above that was swapped for a link, or for another, is an error.
//   - A name that something has is left alone and reported, so that the wall
//     can protect it as what it is.
//   - Runs share stubs, of one store by what each wrote down, of different
//     stores (other users, other settings) by a lock on the stub itself.
//
// Stubs carry the sticky bit, which no umask takes away and nobody gives to a
// folder of their own by these names: so the moment one is made it can be told
// from somebody's, and one whose record was lost is taken over by the next run.
// It goes when somebody puts something into it.
//
// Limits: locks are flock(2)'s, of one machine. A machine that loses power can
// keep an empty folder until the next run there. Needs openat2 (Linux 5.6).
package stubs
