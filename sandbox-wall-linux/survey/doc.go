// Package survey looks below the folders that a program writes for what tools
// outside act on: repositories, whose hooks and configuration git runs; files
// by which editors, agents and builders run programs; sockets that something
// of this machine listens on.
//
// Start with [Look], which walks with any way of listing folders, or with
// [Walk], which walks this machine. [Mark] notes what was found as it stands,
// and [Compare] says what changed between two such notes.
//
// What it promises:
//
//   - A walk ends: its time is bounded. Folders are gone through from the top,
//     those that seldom hold what is looked for come last, and those that were
//     not reached are named in [Found.Unseen].
//   - Nothing is opened but folders, and no link is followed.
//   - What was found is told from what replaced it by what stat(2) says of it,
//     the time of its last change included, which no program can set. No file
//     is read.
//
// Limits: what is made after a walk has passed is not found by it. A name that
// tools outside act on is found if the table of this package has it. What lies
// in a repository's own folder is the wall's business, and not walked.
package survey
