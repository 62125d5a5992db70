// Package launch starts bubblewrap for a plan and stays as its parent until the
// program has ended.
//
// Start with [Spec], which is all that it needs to know, and [Run]. [Inside] is
// for the stage inside, where there has to be one.
//
// What it promises:
//
//   - The program gets its standard streams and what [Spec.Files] passes on,
//     whatever else the caller had open, and whichever of the three were
//     closed. Its environment is [Spec.Env] and nothing else; bubblewrap, which
//     runs outside the wall, sees none of it, so that no LD_PRELOAD reaches it.
//   - It starts only while its parent lives: the filter goes down a pipe at the
//     last moment, and bubblewrap gives up on a filter that is cut short.
//   - When Run returns, or is killed at any moment, nothing of the sandbox
//     lives: bubblewrap's own process is the first of a pid namespace, whose
//     end ends all in it.
//   - The status is the program's: its own, or 128 and the signal that ended
//     it. What comes before the program is an [Error] with 125, 126 or 127.
//   - A signal is passed on once, to the program alone, found by its place and
//     not by a number that could be somebody else's by now.
//   - The sandbox's first process, which is bubblewrap's and not under the
//     filter until its first instructions are past, cannot be looked into from
//     inside: a folder covers its place in /proc.
//
// Where the machine does not let us make that pid namespace (a user without
// user namespaces, for whom bubblewrap alone is let through), bubblewrap is
// started without it. Then there is a fifth of a millisecond, between the
// filter and the moment the sandbox's first process ties itself to its parent,
// in which a SIGKILL of Run leaves the program behind, inside its wall; and a
// terminal needs the stage inside.
//
// A program without a terminal gets a session of its own (--new-session): it
// has no controlling terminal, so that it can neither push input into one nor
// take it over. With one it stays in its caller's session and process group,
// so that the shell that started it controls it as any other job, and the
// filter is what keeps it from pushing input. The keyboard's signals then reach
// it by themselves and are not passed on a second time.
//
// Limits: bubblewrap writes its own line to the program's standard error when
// it cannot set up the sandbox; the error that Run returns comes after it. That
// the program is there and can be executed is looked up first, inside, and
// needs no such line.
package launch
